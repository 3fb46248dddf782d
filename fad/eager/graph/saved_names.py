"""Names that nodes show as _saved_<name>: facts about PyTorch 2.13, read off its nodes.

Each line: the names, then the nodes that show them (Mul0 for MulBackward0). Nodes that are not here show what they
have.
"""

_TABLE = """
-: Ceil0 Clone0 Conj0 ConjPhysical0 Deg2Rad0 Fill2 Fill3 Floor0 Fmod0 Frac0 Neg0 Rad2Deg0
  Remainder0 Round0 Round1 Sign0 T0 T1 ToCopy0 Trunc0 Unique20 ViewAsComplex0 ViewAsReal0 Zero0
alpha: Add0 Rsub0 Rsub1 Sub0
condition: Where0
diagonal: Tril0 Triu0
dim: Cat0 Cumsum0 Stack0 Unbind0 Unsqueeze0 Unsqueeze1
dims: Flip0 Permute0
inverse: LinalgInvEx0
mask: MaskedFill0 MaskedFill1
other: Div1 Mul1
pad: ConstantPadNd0
result: Exp0 Exp20 Expm10 Polar0 Reciprocal0 Relu0 Rsqrt0 Sigmoid0 SpecialNdtri0 Sqrt0 Tan0 Tanh0
self: Abs0 Acos0 Acosh0 Angle0 Asin0 Asinh0 Atan0 Atanh0 Cos0 Cosh0 Digamma0 Erf0
  Erfc0 Erfinv0 I00 Lgamma0 LinalgMatrixExp0 Log0 Log100 Log1P0 Log20 NanToNum0 Silu0 Sin0
  Sinc0 Sinh0 SpecialEntr0
self_sym_sizes: Expand0 Squeeze0 Squeeze3 Sum0 Trace0 UnsafeView0 View0
weight: Lerp0
L upper: LinalgCholeskyEx0
accumulate indices: IndexPut0
approximate self: Gelu0
buffer self: LogSigmoid0
dim index: IndexFill0 IndexFill1 Scatter0 Scatter1 ScatterAdd0
dim normalization: FftC2R0
dim result: LogSoftmax0 Softmax0
dim self_sym_sizes: Squeeze1 Squeeze2 Squeeze4 Squeeze5
dim0 dim1: Transpose0 Transpose1
dims shifts: Roll0
eigenvalues eigenvectors: LinalgEig0 LinalgEigh0
eps self: Logit0
exponent self: Pow0
imag real: Complex0
index self: Take0
indices self_sym_sizes: Index0
mask self: MaskedSelect0
mask source_sym_sizes: MaskedScatter0
mat2 self: Bmm0
n self: Polygamma0
negative_slope self: LeakyRelu0
other result: Ldexp0
other self: Atan20 Div0 Fmax0 Fmin0 Fmod1 Igamma0 Igammac0 Logaddexp0 Logaddexp20 Maximum0 Minimum0 Mul0 Nextafter0
  Remainder1 SpecialXlog1Py0 SpecialZeta0 Vdot0 Xlogy0
padding self: ReflectionPad1D0 ReflectionPad2D0 ReplicationPad1D0 ReplicationPad2D0
repeats self_sym_sizes: Repeat0
result self: Copysign0 Copysign1 LinalgPinv0 Max1 Median0 Min1 Nanmedian0 Prod0 Sgn0 SpecialErfcx0 SpecialI0E0
  SpecialI10 SpecialI1E0 SpecialLogNdtr0
result upper: Cholesky0
self tensor: Dot0
self threshold: Threshold0
self vec: Mv0
self weight: PreluKernel0
self_sym_numel self_sym_sizes: Mean0
Q R mode: LinalgQr0
b self solution: LinalgLstsq0
beta self threshold: Softplus0
dim forward normalization: FftC2C0
dim index self_sym_sizes: IndexSelect0 Select0
dim indices self: Cummax0 Cummin0
dim indices self_sym_sizes: Sort0 Topk0
dim keepdim self: Nansum0
dim keepdim self_sym_sizes: Sum1
dim other self: LinalgCross0
dim result self: Cumprod0 Logcumsumexp0
dim self_sym_sizes split_size: Split0
dim self_sym_sizes split_sizes: SplitWithSizes0
dim1 dim2 offset: DiagEmbed0
end self weight: Lerp1
exponent result self: Pow1 Pow2
max min self: Clamp0 Clamp1
max_val min_val self: Hardtanh0
other result self: Hypot0
other rounding_mode self: Div2
output_size scales self_sym_sizes: UpsampleNearest1D0
p result self: Pdist0
reduction self target: MseLoss0
size storage_offset stride: AsStrided0
tensor1 tensor2 value: Addcdiv0 Addcmul0
A LU pivots result: LinalgDet0
A LU pivots sign: LinalgSlogdet0
align_corners output_size scales self_sym_sizes: UpsampleLinear1D0
alpha batch1 batch2 beta: Baddbmm0
alpha beta mat vec: Addmv0
alpha input_scale scale self: Elu0
beta reduction self target: SmoothL1Loss0
correction dim keepdim self: Var0 VarMean0
delta reduction self target: HuberLoss0
dim index self sparse_grad: Gather0
dim index source source_dim: IndexCopy0
dim indices keepdim self_sym_sizes: Max0 Median1 Min0 Nanmedian1
dim keepdim result self: Amax0 Amin0 Logsumexp0 Prod1
dim keepdim self_sym_numel self_sym_sizes: Mean1
dim normalization onesided self: FftR2C0
dim1 dim2 offset self_sym_sizes: Diagonal0
dimension self_sym_sizes size step: Unfold0
other p result self: Dist0
output_size scales_h scales_w self_sym_sizes: UpsampleNearest2D0
reduction self target weight: BinaryCrossEntropy0
A LU left pivots result: LinalgSolveEx0
S S_sym_argsize_minus_1 U Vh full_matrices: LinalgSvd0
align_corners output_size scales_h scales_w self_sym_sizes: UpsampleBilinear2D0
alpha dim index source source_dim: IndexAdd0
correction dim keepdim result self: Std0
correction dim keepdim result0 self: StdMean0
dim end self_sym_sizes start step: Slice0
dim keepdim max min self: Aminmax0
dim keepdim ord result self: LinalgVectorNorm0
indices padding_idx weight_sym_argsize_0: Embedding0
left result self unitriangular upper: LinalgSolveTriangular0
output_size scales_d scales_h scales_w self_sym_sizes: UpsampleNearest3D0
pos_weight reduction self target weight: BinaryCrossEntropyWithLogits0
A self solution transpose unitriangular upper: TriangularSolve0
align_corners output_size scales_d scales_h scales_w self_sym_sizes: UpsampleTrilinear3D0
bias input normalized_shape result1 result2 weight: NativeLayerNorm0
ignore_index reduction self target total_weight weight: NllLoss0 NllLoss2D0
mat2 mat2_sym_sizes mat2_sym_strides self self_sym_sizes self_sym_strides: Mm0
alpha batch1 batch1_sym_argsize_0 batch1_sym_argsize_1 batch2 batch2_sym_argsize_2 beta: Addbmm0
ceil_mode count_include_pad divisor_override kernel_size padding self stride: AvgPool2D0
ceil_mode dilation kernel_size padding result1 self stride: MaxPool2DWithIndices0
dim include_self index reduce result self source: IndexReduce0
dim include_self index reduce result self src: ScatterReduce0
alpha beta mat1 mat1_sym_sizes mat1_sym_strides mat2 mat2_sym_sizes mat2_sym_strides: Addmm0
eps input result1 result2 running_mean running_var training weight: NativeBatchNorm0
C HxW N eps group input result1 result2 weight: NativeGroupNorm0
bias_sym_sizes_opt dilation groups input output_padding padding stride transposed weight: Convolution0
"""


def _read() -> dict:
    """Node -> its names."""
    found: dict = {}
    names: tuple = ()
    for word in _TABLE.replace("\n  ", " ").split("\n"):
        if word:
            left, _, right = word.partition(":")
            names = () if left == "-" else tuple(left.split())
            found.update({f"{node[:-1]}Backward{node[-1]}": names for node in right.split()})
    return found


SHOWN = _read()
_TENSORS = frozenset((  # the names that tensors have; others are numbers, sizes, options
    "self other result result0 result1 result2 index indices mask weight condition input tensor tensor1 tensor2 mat "
    "mat1 mat2 batch1 batch2 vec L LU U Q R A b S Vh solution pivots eigenvalues eigenvectors target buffer source "
    "src bias running_mean running_var total_weight pos_weight imag real inverse sign").split())
# `other`, `weight`, `index` are
_OF_NUMBERS = frozenset(("DivBackward1", "MulBackward1", "LerpBackward0", "SelectBackward0"))
# their slopes are constant piece by piece: a recorded gradient still leads to the argument, where nothing more comes of
# it
FLAT = frozenset(f"{name}Backward0" for name in "Relu LeakyRelu Hardtanh Threshold".split())
# they save no tensor: any number of passes goes through
LASTING = _OF_NUMBERS | {node for node, names in SHOWN.items() if _TENSORS.isdisjoint(names)} - {
    "UnsafeViewBackward0"}    # as which products are shown, whose factors are saved by the step behind it
