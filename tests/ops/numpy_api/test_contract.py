"""Products of arrays, polynomials, chains of matrices: values as NumPy's, derivatives as differences and as each
other."""
import re

import numpy as np
import pytest

import fad

from .overrides_at import both_tests, listed

EXPRESSIONS = listed(r"""
np.vdot(v,v); np.vdot(z,z); np.inner(x,S); np.inner(v,v); np.outer(v,v); np.outer(x,v); np.tensordot(x,S,axes=1)
np.tensordot(x,S,axes=([1],[0])); np.tensordot(x,x,2); np.tensordot(x,v,0); np.vecdot(x,v); np.vecdot(z,z)
np.matvec(S,x); np.vecmat(z,S); np.kron(v,v); np.kron(x,S); np.kron(v,x); np.cross(x[:, :3], x[:, 1:])
np.cross(S[:3],S[1:],axis=0); np.trace(S); np.trace(x)
np.trace(x,1); np.trace(x,-1); np.trace(S[None]*v[:,None,None],axis1=1,axis2=2); S.trace(); np.einsum("ij,jk->ik", x, S)
np.einsum("ij,ij->i", x, x); np.einsum("ii->i", S); np.einsum("i,j,jk->k", v, v, S); np.einsum("...j,j", x, v)
np.einsum(x,[0,1],v,[1],[0]); np.einsum("ij->",x); np.einsum("ii",S); np.einsum("ij",x); np.einsum("ji",x)
np.einsum("ij,kl->",x,S); np.einsum("ij,jj,j->i",x,S,v); np.einsum("...ij,...jk->...ik",x[None],S)
np.einsum("ij,jk,kl,lm->im",x,S,S,S,optimize=False); np.einsum("ij,ij->j",x[:1],x); np.einsum("i...->...",x)
np.einsum("ij,j->ij",z,v); np.einsum("a,b,c->abc",v,v,v); np.einsum("ij,ik,il->jkl",x,x,x); np.einsum(x,[0,1])
np.einsum("ijj->i",x[:,:,None]*S); np.einsum("kij->k",x[:,:,None]*S); np.einsum("ij,ij",k,k); np.einsum("ij->i",k>2)
np.einsum(",ij->ij",2.0,x); np.einsum("i,i,i->i",v,v,v); np.convolve(v,v[:3]); np.convolve(v,v,mode="same")
np.convolve(v[:2],v,mode="valid"); np.convolve(v[:3],v,mode="same"); np.convolve(v[:2],v,mode="same")
np.convolve(v,v[:2],mode="same"); np.convolve(z[0],v); np.correlate(v,v[:2],mode="full"); np.correlate(v,v)
np.correlate(v[:2],v,"same"); np.correlate(v[:3],v,"same"); np.correlate(v,v[:2],"same"); np.correlate(v[:2],v)
np.correlate(v[:2],v,"full"); np.correlate(z[0],z[1][:2],"same"); np.correlate(z[0][:2],z[1],"full"); np.polyval(v,x)
np.polyval(v,0.5); np.polyval([1.,2.,v[0]],v); np.polyval(np.concatenate([x.ravel()]*3), v); np.vander(v,3)
np.vander(v); np.vander(v,increasing=True); np.polymul(v,v); np.polyadd(v,v[:2]); np.polysub(v[:2],v); np.polyder(v)
np.polyder(v,2); np.polyint(v); np.polyint(v,2,[1.,2.]); x.dot(v); x@v; v@S@v; (x[:,None]@S)[0]
S[None]@(v[:,None,None]*S); np.matmul(S, x[:,:,None]); np.linalg.vecdot(x,v); np.linalg.outer(v,v); np.linalg.trace(S)
np.linalg.cross(x[:,:3],x[:,1:]); np.linalg.tensordot(x,S,axes=1); np.linalg.matmul(x,S); np.linalg.multi_dot([x,S,S])
np.linalg.multi_dot([v,S,v]); np.linalg.multi_dot([x,S,v]); np.linalg.matrix_power(S,3); np.linalg.matrix_power(S,0)
np.roots([0,v[0],v[1]+3,-v[2],0.0,0]).real; np.polynomial.polynomial.polyadd(v[0],v)
np.polynomial.polynomial.polymul(v,v[1]); np.polynomial.polynomial.polysub([1.,2.],v[0]); np.linalg.matrix_power(S,1)
np.linalg.matrix_power(S,-2); np.linalg.matrix_power(S,7)
""")

VALUES_ONLY = listed(r"""
np.einsum("ij,j->i",f,f[0]); np.polyval([1.0, 2.0], f); np.polyval((1, 2), f); np.polyval(f[0], 2.0)
np.polyval(f[0], f); np.dot(f, 2.0); np.dot(2, f); f.dot(2.0); np.inner(f, 2.0); np.multiply.outer(f, 2.0)
np.dot(k.astype("i1"), 1000); np.dot(f, float(np.sum(v))); np.nan_to_num(f, nan=v[0]); sp.logsumexp(f, b=2.0)
sp.logsumexp(k, b=f[0])
""")


test_value, test_derivatives = both_tests(EXPRESSIONS, VALUES_ONLY)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("m, n", [(2, 2), (2, 3), (3, 2), (4, 3), (1, 3)])
def test_cross_takes_the_vectors_that_the_installed_numpy_takes(m, n):
    a, b = np.linspace(0.1, 1.3, 3 * m).reshape(3, m), np.linspace(0.7, -0.2, n)
    try:
        want = np.cross(a, b)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error).partition("\n")[0])):
            fad.jit(np.cross, fallback=False)(a, b)
        return
    np.testing.assert_allclose(fad.jit(np.cross, fallback=False)(a, b), want, rtol=1e-14)
    slope = fad.jvp(lambda b: np.cross(a, b), (b,), (b,))[1]  # it is linear
    np.testing.assert_allclose(slope, want, rtol=1e-14)


@pytest.mark.parametrize("equation", ["i1", "i_", "ij->1j"])
def test_what_is_no_letter_is_no_subscript(equation):
    for f in (np.einsum, fad.jit(lambda e, x: np.einsum(e, x), compile="never")):
        with pytest.raises(ValueError, match="subscripts must be letters"):
            f(equation, np.ones((2, 3)))
