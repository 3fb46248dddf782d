"""Why a public function of NumPy has no derivative of its own: what the page of ops says of functions outside the table."""

REASONS = {
    "reads, writes or prints": """
        array2string array_repr array_str base_repr binary_repr datetime_as_string format_float_positional
        format_float_scientific fromfile fromregex fromstring genfromtxt load loadtxt save savetxt savez savez_compressed
        info get_include show_config show_runtime typename""",
    "asks about types or memory, not values": """
        can_cast common_type datetime_data isdtype isfortran issubdtype iterable may_share_memory min_scalar_type mintypecode
        promote_types require result_type shares_memory einsum_path nested_iters broadcast_shapes""",
    "sets how NumPy behaves": """
        errstate getbufsize geterr geterrcall get_printoptions printoptions set_printoptions setbufsize seterr seterrcall test""",
    "about integers, bits or dates": """
        bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_right_shift busday_count busday_offset gcd lcm
        is_busday isnat packbits unpackbits ravel_multi_index unravel_index""",
    "compares sets of values": """
        intersect1d isin setdiff1d setxor1d union1d unique_all unique_counts unique_inverse unique_values""",
    "gives indices or truth values, which have no derivative": """
        allclose array_equal array_equiv argpartition argwhere diag_indices diag_indices_from flatnonzero indices iscomplex
        iscomplexobj isclose isneginf isposinf isreal isrealobj isscalar ix_ lexsort mask_indices nanargmax nanargmin
        tril_indices tril_indices_from triu_indices triu_indices_from matrix_rank""",
    "counts: piecewise constant": "histogram histogram2d histogram_bin_edges histogramdd",
    "takes no array to differentiate": """
        bartlett blackman hamming hanning kaiser tri fftfreq rfftfreq from_dlpack frombuffer fromiter frompyfunc asmatrix bmat""",
}


def reason(name: str) -> str:
    """The reason for one function, by its bare name."""
    return next((reason for reason, names in REASONS.items() if name in names.split()), "no record yet")
