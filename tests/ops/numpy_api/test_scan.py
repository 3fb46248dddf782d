"""Scans, differences, quantiles, and what leaves nan out: values as NumPy's, derivatives as differences and as each
other."""
from .overrides_at import both_tests, listed

EXPRESSIONS = listed(r"""
np.trapezoid(x, axis=1); np.cumsum(x); np.cumsum(x, axis=1); np.cumprod(x, axis=0); np.diff(x); np.diff(x, n=2, axis=1)
np.ediff1d(x); np.gradient(x, axis=1); np.cov(x); np.corrcoef(x); np.quantile(x,[.2,.7],axis=1)
np.quantile(x,.4,axis=0,method="hazen"); np.quantile(x,.4,axis=0,method="weibull")
np.quantile(x,.4,method="inverted_cdf"); np.quantile(x,.5,method="inverted_cdf")
np.quantile(x,[0,.5,1.],method="averaged_inverted_cdf")
np.quantile(x,[0.,.25,.5,.41,1.],method="closest_observation",axis=1); np.quantile(x,.37,method="lower")
np.quantile(x,.37,method="higher",axis=1); np.quantile(x,.37,method="midpoint")
np.quantile(x,[.5,.37],method="nearest"); np.quantile(x,.3,method="median_unbiased")
np.quantile(x,.3,method="normal_unbiased"); np.quantile(x,.3,method="interpolated_inverted_cdf")
np.percentile(x,[10,50],axis=1,keepdims=True); np.quantile(x,.3,axis=(0,1),keepdims=True)
np.quantile(k,.3,axis=1,method="lower"); np.quantile(x,x[0]*.9); np.quantile(np.stack([x,x]),.2,axis=(0,2))
np.nanquantile(n,.3,axis=1); np.nanquantile(n,[.3,.6],axis=0); np.nanmedian(n); np.nanmedian(n,axis=0)
np.nanpercentile(n,30); np.nanquantile(x,.3,axis=0); np.median(x,axis=(0,1),keepdims=True); np.nansum(n)
np.nansum(n,axis=0); np.nanprod(n,axis=1); np.nanmean(n,axis=1); np.nanvar(n,axis=1); np.nanstd(n,axis=1,ddof=1)
np.nanmax(n,axis=0); np.nanmin(n); np.nancumsum(n,axis=1); np.nancumprod(n); np.nanargmax(n,axis=1); np.nanargmin(n)
np.nanmax(n); np.nanvar(x); np.cumulative_sum(x,axis=1,include_initial=True); np.cumulative_prod(v)
np.diff(v,prepend=0.0); np.diff(v,append=v[:2]); np.diff(k); np.diff(x>.5); np.ediff1d(v,to_begin=0.,to_end=[1.,2.])
np.gradient(x); np.gradient(v,.5,edge_order=2); np.gradient(v,np.array([0.,1.,3.,4.5]))
np.gradient(v,np.array([0.,1.,3.,4.5]),edge_order=2); np.gradient(x,.5,2.); np.gradient(x,v*np.arange(1,5),axis=1)
np.gradient(v,np.cumsum(v),edge_order=2); np.trapezoid(v*v,v); np.trapezoid(x,dx=.1,axis=0); np.trapezoid(x,x*x)
np.quantile(x,[.3,1.,0.],weights=x*x,method="inverted_cdf",axis=0)
np.percentile(x,30,weights=x,method="inverted_cdf",keepdims=True)
np.quantile(np.stack([x,2*x]),.4,axis=(2,0),weights=x[:2].T**2,method="inverted_cdf")
np.quantile(x,[[.1,.7]],weights=v,method="inverted_cdf",axis=-1)
np.nanquantile(n,.3,axis=1,weights=x,method="inverted_cdf"); np.nanpercentile(n,[30,90],weights=x,method="inverted_cdf")
np.polydiv(v,v[1:3]); np.polydiv(v[:2],v); np.polydiv(v,v[3:])[0]; np.polydiv(np.concatenate([v,v*v,v]),v+.5)[1]
""")

VALUES_ONLY = listed(r"""
np.quantile(k,.3,axis=1); np.median(k); np.median(k,axis=0); np.gradient(k[0]); np.trapezoid(k)
np.quantile(f,.3,axis=0); np.median(n,axis=0); np.median(f,axis=1); np.nanquantile(f,.3)
np.quantile(k,.3,axis=1,weights=k+9,method="inverted_cdf"); np.quantile(n,.3,axis=0,weights=x,method="inverted_cdf")
""")


test_value, test_derivatives = both_tests(EXPRESSIONS, VALUES_ONLY)
