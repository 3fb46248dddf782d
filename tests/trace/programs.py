"""Programs as people write them, each a function of a float vector that returns a number; plain NumPy and plain
Python."""
# ruff: noqa: E701, E702

import numpy as np

rng=np.random.default_rng(3)
P=[]
def prog(x):
    def deco(f): P.append((f,x)); return f
    return deco
X=rng.uniform(0.1,1,8)
@prog(X)
def swap(u):
    u=u.copy(); new=np.empty_like(u); new[:]=0
    for _ in range(7):
        new[1:-1]=u[1:-1]+0.1*(u[2:]-2*u[1:-1]*u[1:-1]+u[:-2])
        u,new=new,u
    return np.sum(u**2)
@prog(X)
def swap_arg(u):
    new=np.zeros_like(u)
    for _ in range(4):
        new[1:-1]=u[1:-1]*0.9+0.1*u[2:]
        u,new=new,u
    return np.sum(u**2)
@prog(X)
def best_none(x):
    best=None
    for k in range(len(x)):
        if best is None or x[k]*np.sin(3*k)>best:
            best=x[k]*np.sin(3*k)
    return best*best
@prog(X)
def lists(x):
    out=[]
    for v in x:
        out.append(v*v)
    return sum(out)
@prog(X)
def list_state(x):
    s=[0.0,1.0]
    for v in x:
        s[0]+=v; s[1]*=v
    return s[0]*s[1]
@prog(X)
def dict_state(x):
    s={"a":0.0,"b":1.0}
    for k in range(x.size):
        if x[k]>0.5:
            s["a"]=s["a"]+x[k]**2
        else:
            s["b"]*=x[k]
    return s["a"]*s["b"]
class Acc:
    def __init__(self): self.total=0.0; self.n=0
    def add(self,v):
        self.total+=v*v; self.n+=1
@prog(X)
def obj_state(x):
    a=Acc()
    for v in x:
        a.add(v)
    return a.total/a.n
@prog(X)
def while_break(x):
    k=0; s=0.0
    while True:
        if k>=x.size: break
        s+=x[k]**2
        k+=1
        if s>1.5: break
    return s*k
@prog(X)
def for_else(x):
    for v in x:
        if v>5: break
    else:
        return np.sum(x**2)
    return 0.0
@prog(X)
def nested_break(x):
    s=0.0
    for i in range(x.size):
        for j in range(x.size):
            if j>i: break
            if x[j]<0.3: continue
            s+=x[i]*x[j]
        if s>3: return s*s
    return s
@prog(X)
def enum_zip(x):
    s=0.0
    for k,(a,b) in enumerate(zip(x[:-1],x[1:])):
        s+=k*a*b
    for v in reversed(x):
        s=s*0.5+v
    for k in reversed(range(x.size)):
        s+=x[k]**k
    for k in range(x.size-1,0,-2):
        s*=x[k]
    return s
@prog(X)
def chain(x):
    s=0.0
    for v in x:
        if 0.2<v<0.8 and not v*v>0.5 or v>0.95:
            s+=v**3
        s+= v if 0.1<v<=0.4 else -v*v
    return s
@prog(X)
def first_bound(x):
    for k in range(x.size):
        t=x[k]*k
    return t*t
@prog(X)
def branch_bound(x):
    if x[0]>0.0:
        y=x*2; flag=True
    else:
        flag=False
    if flag:
        return np.sum(y*y)
    return x[0]
@prog(X)
def varsize(x):
    y=x
    while y.size>1:
        n=y.size//2
        y=y[:n]*y[n:2*n]+np.sum(y)
    return y[0]
@prog(X)
def view_in_loop(x):
    A=np.outer(x,x)
    for i in range(A.shape[0]):
        row=A[i]
        row[1:]+=row[:-1]*0.5
        row*=1.1
    return np.sum(A**2)
@prog(X)
def view_in_branch(x):
    A=np.outer(x,x)
    r=A[2]
    if x[0]>0.05:
        r[1]=5*x[0]*x[1]
        A[0]*=2
    return np.sum(A**2)
@prog(X)
def helper_mut(x):
    def axpy(y,a,v):
        y+=a*v
    y=np.zeros_like(x)
    for k in range(3):
        axpy(y,x[k],x**k)
    return np.sum(y*y)
@prog(X)
def nonlocal_(x):
    s=0.0
    def add(v):
        nonlocal s
        s+=v*v
    for v in x: add(v)
    return s
@prog(X)
def compr(x):
    n=x.size
    return sum(x[k]*x[n-1-k] for k in range(n))+np.sum(np.array([x[k]**2 for k in range(n)]))
@prog(X)
def minmax(x):
    m=x[0]
    for v in x: m=max(m,v*v*2,0.1)
    return m+min(x[0],x[1])+max(x)
@prog(X)
def factorial(x):
    s=0.0; f=1
    for k in range(25):
        s+=x[0]**k/f
        f*=k+1
    return s
@prog(X)
def tryfin(x):
    s=0.0
    try:
        for v in x: s+=v*v
    finally:
        s=s*2
    with np.errstate(all="ignore"):
        for v in x: s+=v
    return s
@prog(X)
def assert_(x):
    assert x[0]>0, "positive"
    assert x.ndim==1
    return np.sum(x**2)
@prog(X)
def power_iter(x):
    A=np.outer(x,x)+np.eye(x.size)
    v=np.ones(x.size)
    for _ in range(10):
        v=A@v
        v=v/np.sqrt(v@v)
    return v@A@v
@prog(X)
def newton_inner(x):
    s=0.0
    for v in x:
        r=1.0
        while abs(r*r*r-v)>1e-12:
            r-= (r**3-v)/(3*r*r)
        s+=r
    return s
@prog(X)
def gram(x):
    A=np.outer(x,x)+np.diag(x); n=A.shape[0]
    Q=np.zeros_like(A)
    for k in range(n):
        v=A[:,k].copy()
        for j in range(k):
            v-= (Q[:,j]@A[:,k])*Q[:,j]
        Q[:,k]=v/np.sqrt(v@v)
    return np.sum(Q[:,-1]*np.arange(n))
@prog(X)
def lu(x):
    A=np.outer(x,x)+5*np.eye(x.size); n=A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i,j]-=A[i,:j]@A[:j,j]
            A[i,j]/=A[j,j]
        for j in range(i,n):
            A[i,j]-=A[i,:i]@A[:i,j]
    return np.sum(np.log(np.diag(A)))
@prog(X)
def late_array(x):
    s=0
    for k in range(3):
        s=s+x*k
    return np.sum(s*s)
@prog(X)
def walrus(x):
    s=x[0]
    while (t:=s*s)<50:
        s=s+t+1
    return s
@prog(X)
def dictlookup(x):
    w={0:1.0,1:2.0,2:3.0}
    s=0.0
    for k in range(3): s+=w[k]*x[k]**2
    return s
@prog(X)
def tuple_ret(x):
    def step(a,b):
        if a>b: return b,a*0.9
        return a,b*0.9
    a,b=x[0],x[1]
    for _ in range(5):
        a,b=step(a,b)
    return a*b
@prog(X)
def two_d(x):
    A=np.outer(x,x)
    s=0.0
    for row in A:
        for v in row:
            if v<0.1: continue
            s+=v*v
    return s
@prog(X)
def empties(x):
    s=1.0
    for k in range(0): s*=x[k]
    for k in range(3,1): s*=x[k]
    return s*x[0]
@prog(X)
def sort_in(x):
    y=x.copy()
    n=len(y)
    for i in range(n):
        for j in range(n-1-i):
            if y[j]>y[j+1]:
                y[j],y[j+1]=y[j+1],y[j]
    return np.sum(y*np.arange(n))
@prog(X)
def int_conv(x):
    s=0.0
    for k in range(x.size):
        s+=x[int(k/2)]*x[k//2]
    return s
@prog(X)
def cumulative(x):
    c=[x[0]]
    for k in range(1,4): c.append(c[-1]*x[k])
    return sum(c)
class Penalty:
    """An object that is called as a function, and takes arrays apart as library code does."""
    def __init__(self, scale):
        self.scale=scale
    def __call__(self, x):
        if not isinstance(x, np.ndarray):
            raise TypeError("an array is wanted")
        y=np.ndarray(x.shape, dtype=x.dtype)
        for k in range(x.size):
            y[k]=abs(complex(x[k], self.scale))
        return np.sum(np.array(y)**3)
    __name__="penalty"
P.append((Penalty(0.5), X))
@prog(X)
def orders(x):
    pairs=sorted([(v*(3-k),k) for k,v in enumerate(x[:4])], reverse=True)
    rest=[v*v for v in x]
    rest.sort(key=lambda v: abs(v-0.3))
    nearest=min(enumerate(x), key=lambda p: (p[1]-0.5)**2)
    biggest=max((v*np.sin(k+1.0), k) for k,v in enumerate(x))
    s=pairs[0][0]*rest[1]+nearest[1]+biggest[0]*biggest[1]+max([x[0],x[1]],default=0.0)
    return s if all(v<2 for v in x) and any(v>0.1 for v in x) else 0.0
@prog(X)
def classes(x):
    def size(v):
        if isinstance(v, (np.floating, float)) and not hasattr(v, "__len__"):
            return np.float64(v)*v
        return sum(size(u) for u in v) if type(v) is np.ndarray and v.__class__ is np.ndarray else 0.0
    return size(x)+np.float64(x[0])*np.complex128(x[1], x[2]).imag
LINE,CURVE=np.polynomial.Polynomial([1.0,2.0,3.0],domain=[0,2]),np.polynomial.Chebyshev(np.cos(np.arange(40.0)))
@prog(X)
def series(x):
    s=0.0
    for v in x:
        s+=LINE(v)*(CURVE+1)(v)+np.poly1d([1.0,2.0])(v)
    return s*np.polynomial.Legendre(x)(0.3)
def recursion_by_size(x):
    def merged(v):
        if len(v)<2: return v[0]
        m=len(v)//2
        return np.sin(merged(v[:m]))+0.7*merged(v[m:])
    return merged(x)
@prog(X[:5])
def recursion_by_size_in_a_loop(x):
    def tail(v):
        total=0.0
        for k in range(len(v)): total+=v[k]*v[k]
        if v.size==1: return total
        return np.tanh(total)+tail(v[1:])*v[0]
    s=0.0
    for k in range(3): s+=tail(x[1:]*k)*x[k]
    return s
@prog(X)
def changed_by_an_inner_function(x):
    s=0.5; t=0.0
    def g(u):
        nonlocal s
        s=0.5*s+0.1*u
        return u*0.5
    for k in range(len(x)): t+=g(x[k])*s
    if x[0]>0.05: t=g(x[1])+s*t
    t+=g(x[2])*s if x[1]>0.05 else s
    if x[0]>0 and g(x[3])>s-100: t+=s
    return s+t
@prog(X)
def inner_function_of_an_iteration(x):
    s=0.5; t=0.0
    for k in range(len(x)):
        def g(u,w=0.4):
            nonlocal s
            s=0.5*s+0.1*u
            return u*w
        t+=0.2*g(x[k//2])
    return t*s
def _pair_that_shares_a_variable():
    s=0.5
    def g(u):
        nonlocal s
        s=0.5*s+0.1*u
        return u*0.5
    def h(x):
        nonlocal s
        s=0.5; t=0.0
        for k in range(len(x)): t+=g(x[k])
        return t+s
    return h
@prog(X)
def sharing(x): return _pair_that_shares_a_variable()(x)
@prog(X)
def condition_that_halves(x):
    s=[x[2]*3]; k=0.0
    def step():
        s[0]=s[0]*0.5
        return s[0]
    while step()>0.0123:
        k+=x[1]*s[0]
        if k>1e3: break
    return s[0]+k
@prog(X)
def condition_that_writes(x):
    w=x*1.0; t=0.0; i=0
    def g(k):
        w[k]*=0.5
        return w[k]
    while g(i)>-0.5 and i<4:
        i+=1; t+=w[i]*w[0]
    return t+w.sum()
@prog(X)
def an_iteration_that_fails_half_way(x):
    n=x.shape[0]; s=0.5
    M=np.zeros((n,n))*1.0
    for u in x:
        s+=0.1*u
        v=M[1:].reshape(-1)
        v[::int(n)+1]+=u*s
    return s+np.sum(M**2)
@prog(X)
def chosen_elements(x):
    s=0.0
    for k in range(3): s+=sum([u*u+0.1*k for u in x if u>0.137])*x[k]
    return s
@prog(X)
def strided(x):
    n=x.size; A=np.zeros((n,n)); A.flat[::n+1]=x; A[range(n-1),range(1,n)]=1.0
    for k in range(n): A[k,k]+=1.0
    return np.sum(np.linalg.solve(A,x))
@prog(X)
def a_break_in_a_loop_over_constants(x):
    s=0.0
    for c in [0.1,0.5,"skip",0.9]:
        if c=="skip": continue
        s=s+c*x[0]
        if s>0.3: break
        s=s+x[1]
    else:
        s=s*10
    return s
@prog(X)
def a_return_in_a_loop_over_names(x):
    for name in ("a","b","c"):
        if name=="b" and x[0]>0.3: return x[1]*2
        if x[2]<0: return x[3]
    return x[4]
@prog(X)
def a_break_in_a_loop_over_parts(x):
    n=0
    for r in (x[:2],x[:3],x):
        n+=1
        if r.sum()>1.2: break
    return n*x[0]+r.sum()
@prog(X)
def one_iteration_with_a_break(x):
    y=np.zeros(4)
    for k in range(1):
        y[k]=x[k]
        if x[0]>0.1: break
        y[1]=5
    return y.sum()
@prog(X)
def another_array_in_every_iteration(x):
    b=x[1:]*0.7; c=np.sin(x[:4])
    for _ in range(3,0,-1):
        b=np.sort(c)[1:]
        b=np.concatenate([b,np.array([0.31,0.52])])[:9]
    return (b*b).sum()+c[0]*c[-1]
@prog(X)
def walrus_first(x):
    s,i=0.0,0
    while (v:=x[i])>0.2 and i<len(x)-1:
        s+=v*v; i+=1
    for v in x:
        s+=w*w if (w:=v*0.5)>0.2 else w
    return s
@prog(X)
def filtered(x):
    s=sum(filter(lambda v: v>0.5,x))
    for v in filter(lambda v: v<0.5,x):
        s+=v*v
    return s
@prog(X)
def match_numbers(x):
    s=0.0
    for v in x:
        match v:
            case float(w): s+=w*w
            case int(): s-=1.0
    match len(x):
        case int(n): s*=n
    return s
@prog(X)
def list_made_in_each_iteration(x):
    for i in range(4):
        out=[]
        for v in x: out.append(v*i)
    return sum(out)+out[0]*out[1]
@prog(X)
def iterations_inside_a_branch(x):
    a,b,c=x*1.0,x*0.7,np.sin(x[:4])
    for _ in range(2):
        if x[0]>0.1:
            for _ in range(len(a)-1): b=np.hstack([c,c])[:7]
            a=np.tanh(c)[min(1,len(b)-2):]
        for _ in range(len(a)-1):
            b=b.copy(); b[:2]+=a[0]
    return a.sum()+(b*b).sum()
@prog(X)
def halves_in_a_list(x):
    details=[]
    while len(x)>1:
        even,odd=x[::2],x[1::2]
        details.append((even-odd)*np.sqrt(0.5))
        x=(even+odd)*np.sqrt(0.5)
    return np.sum(np.concatenate([*details,x])**3)
@prog(X)
def levels_by_a_logarithm(x):
    details=[]
    for _ in range(int(np.log2(len(x)))):
        even,odd=x[::2],x[1::2]
        details.append((even-odd)*np.sqrt(0.5))
        x=(even+odd)*np.sqrt(0.5)
    return np.sum(np.concatenate([*details,x])**3)
@prog(X)
def sizes_as_keys(x):
    rows={}
    while x.shape[0]/2>=1:
        rows[x.shape[0]]=x.max()
        x=x[:int(x.shape[0]*0.5)]*x[0]
    return sum(rows.values())+x.sum()
