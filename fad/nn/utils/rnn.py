"""fad.nn.utils.rnn: sequences of several lengths, padded and packed."""
from ...eager.nn.packing import PackedSequence as PackedSequence
from ...eager.nn.packing import invert_permutation as invert_permutation
from ...eager.nn.packing import pack_padded_sequence as pack_padded_sequence
from ...eager.nn.packing import pack_sequence as pack_sequence
from ...eager.nn.packing import pad_packed_sequence as pad_packed_sequence
from ...eager.nn.packing import pad_sequence as pad_sequence
from ...eager.nn.packing import unpack_sequence as unpack_sequence
from ...eager.nn.packing import unpad_sequence as unpad_sequence
