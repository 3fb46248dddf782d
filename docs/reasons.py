"""Why a public function of NumPy or SciPy has no derivative of its own.

The page of functions says this of each function outside the table.
"""

REASONS = {
    "reads, writes or prints": """
        array2string array_repr array_str base_repr binary_repr datetime_as_string format_float_positional
        format_float_scientific fromfile fromregex fromstring genfromtxt load loadtxt save savetxt savez
        savez_compressed info get_include show_config show_runtime typename""",
    "asks about types or memory, not values": """
        can_cast common_type datetime_data isdtype isfortran issubdtype iterable may_share_memory min_scalar_type
        mintypecode promote_types require result_type shares_memory einsum_path nested_iters broadcast_shapes""",
    "sets how NumPy or SciPy behaves": """
        errstate getbufsize geterr geterrcall get_printoptions printoptions set_printoptions setbufsize seterr
        seterrcall test""",
    "about integers, bits or dates": """
        bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_right_shift busday_count busday_offset
        gcd lcm is_busday isnat packbits unpackbits ravel_multi_index unravel_index""",
    "compares sets of values": """
        intersect1d isin setdiff1d setxor1d union1d unique_all unique_counts unique_inverse unique_values""",
    "gives indices or truth values, which have no derivative": """
        allclose array_equal array_equiv argpartition argwhere diag_indices diag_indices_from flatnonzero indices
        iscomplex iscomplexobj isclose isneginf isposinf isreal isrealobj isscalar ix_ lexsort mask_indices
        nanargmax nanargmin tril_indices tril_indices_from triu_indices triu_indices_from matrix_rank""",
    "counts: piecewise constant": "histogram histogram2d histogram_bin_edges histogramdd",
    "takes no array to differentiate": """
        bartlett blackman hamming hanning tri fftfreq rfftfreq from_dlpack frombuffer frompyfunc asmatrix bmat""",
    "gives zeros, roots, coefficients, sequences or a polynomial object": """
        ai_zeros bei_zeros beip_zeros ber_zeros berp_zeros bi_zeros erf_zeros fresnel_zeros fresnelc_zeros
        fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros kei_zeros keip_zeros kelvin_zeros ker_zeros
        kerp_zeros y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros bernoulli euler stirling2 mathieu_even_coef
        mathieu_odd_coef obl_cv_seq pro_cv_seq lmbda lqmn lqn pbdn_seq pbdv_seq pbvv_seq riccati_jn riccati_yn
        legendre chebyt chebyu chebyc chebys jacobi laguerre genlaguerre hermite hermitenorm gegenbauer sh_legendre
        sh_chebyt sh_chebyu sh_jacobi assoc_laguerre roots_legendre roots_chebyt roots_chebyu roots_chebyc
        roots_chebys roots_jacobi roots_laguerre roots_genlaguerre roots_hermite roots_hermitenorm roots_gegenbauer
        roots_sh_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_jacobi p_roots t_roots u_roots c_roots s_roots
        j_roots l_roots la_roots h_roots he_roots cg_roots ps_roots ts_roots us_roots js_roots""",
    "a function of integers": "factorial2 factorialk",
    "a spheroidal or ellipsoidal wave function, of which SciPy's own is unreliable": """
        pro_ang1 pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv obl_ang1 obl_ang1_cv obl_cv obl_rad1
        obl_rad1_cv obl_rad2 obl_rad2_cv ellip_harm ellip_harm_2 ellip_normal""",
}


def reason(name: str) -> str:
    """The reason for one function, by its bare name."""
    return next((reason for reason, names in REASONS.items() if name in names.split()), "no record yet")
