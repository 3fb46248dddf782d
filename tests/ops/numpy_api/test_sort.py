"""Sorting, searching, sets of values, histograms: values as NumPy's, derivatives as differences and as each other."""
from .overrides_at import both_tests, listed

EXPRESSIONS = listed(r"""
np.sort(x); np.sort(x,axis=0); np.sort(x,axis=None); np.sort(k,axis=1); np.argsort(x)
np.argsort(k,axis=None,kind="stable"); np.argsort(v[0])+k; np.partition(v,2); np.lexsort((v,x[0]))
np.lexsort((k[0],k[1])); x.argsort(0); np.lexsort(k); np.searchsorted(np.sort(v),0.5)
np.searchsorted(np.sort(v),x,side="right"); np.digitize(v,[.5])*v; np.digitize(x,[.3,.5,.8])
np.digitize(x,np.array([.8,.5,.3])); np.searchsorted(v,x,sorter=np.argsort(v)); np.searchsorted([1,2,3],x)
np.nonzero(x>.5); np.flatnonzero(x>.5); np.argwhere(x>.5); np.nonzero(x>.5)[0].size*v; np.nonzero(v>.5); np.unique(v)
np.unique(x,return_counts=True)[0]; np.unique(k,return_index=True,return_inverse=True,return_counts=True)
np.unique_all(k); np.unique_counts(k); np.unique_inverse(k); np.unique(k,return_counts=True)[1]*v[0]; np.isin(k,[2,3])
np.isin(x,x[0]); np.isin(k,[2,3],invert=True); np.union1d(v,v*v); np.intersect1d(v,x[0]); np.setdiff1d(v,x[0])
np.setxor1d(v,x[0]*2); np.intersect1d(k,[1,2,9]); np.bincount([0,1,1,3],weights=v); np.bincount(k[0])
np.bincount(k.ravel(),minlength=9); np.bincount(k[0],weights=v,minlength=3); np.histogram(x,4)
np.histogram(x,4,weights=x)[0]; np.histogram(x,[.2,.5,.8],density=True); np.histogram(x,3,(0.,1.))
np.histogram_bin_edges(x,4); np.histogram2d(v,v*v,3,weights=v)[0]; np.histogramdd(x,[2,3,2,2])[0]
np.histogram2d(v,v*v,[2,[0.,.3,1.]],density=True)[0]; np.histogram([.1,.4,.5,.8],3,(0.,1.),weights=v)[0]
np.histogram(x,4,(0.,1.),density=True,weights=x*x)[0]
""")

VALUES_ONLY = listed(r"""
np.histogram(k,3); np.sort_complex(f); np.sort_complex(k); np.sort_complex(k.astype(np.int8)); np.sort_complex(z[0])
np.unique(n); np.unique(n,equal_nan=False)
""")


test_value, test_derivatives = both_tests(EXPRESSIONS, VALUES_ONLY)
