"""fad.utils.data: data in batches, under PyTorch's names."""
from ..eager.batches import BatchSampler as BatchSampler
from ..eager.batches import ConcatDataset as ConcatDataset
from ..eager.batches import DataLoader as DataLoader
from ..eager.batches import Dataset as Dataset
from ..eager.batches import IterableDataset as IterableDataset
from ..eager.batches import RandomSampler as RandomSampler
from ..eager.batches import Sampler as Sampler
from ..eager.batches import SequentialSampler as SequentialSampler
from ..eager.batches import Subset as Subset
from ..eager.batches import SubsetRandomSampler as SubsetRandomSampler
from ..eager.batches import TensorDataset as TensorDataset
from ..eager.batches import WeightedRandomSampler as WeightedRandomSampler
from ..eager.batches import default_collate as default_collate
from ..eager.batches import default_convert as default_convert
from ..eager.batches import random_split as random_split
