"""The formula of every observable, in the part of TeX that matplotlib's mathtext knows."""

from __future__ import annotations

from types import MappingProxyType

_MARGIN = r"\frac{\min_i p_i}{|W|^L}"
_KKT = (
    r"\frac{\min_{\lambda\geq 0}|\hat\theta-\sum_i\lambda_i\nabla p_i(\hat\theta)|}{|\hat\theta|}"
)
_PHI = r"\Phi=\frac{1}{4}\sum_k|\alpha_k|\,"

TEX = MappingProxyType(
    {
        "risk": r"R=\frac{1}{n}\sum_{i=1}^n\ell(p_i)",
        "log10_risk": r"\log_{10}\frac{1}{n}\sum_{i=1}^n\ell(p_i)",
        "hard_margin": _MARGIN,
        "smoothed_margin": r"\frac{\ell^{-1}(\sum_i\ell(p_i))}{|W|^L}",
        "l1_margin": r"\frac{\min_i p_i}{\sum_j|a_j|\,|v_j|}",
        "balanced_margin": r"\frac{\min_i p_i}{|a|^2+|c|^2}",
        "dual_margin": r"\frac{\sum_i q_i p_i}{|W|^L\,\sum_i q_i}",
        "integration_error": r"\max\frac{|\min_i p_i-\min_i p_i'|}{|W|^L}",
        "train_error": r"\frac{1}{n}\sum_{i=1}^n 1[\mathrm{not}\ p_i>0]",
        "atoms": r"\sum_{i=1}^n 1[q_i>10^{-3}]",
        "dual": r"q_i=\frac{\ell'(p_i)}{\ell'(\ell^{-1}(\sum_k\ell(p_k)))}",
        "norm_squared": r"|W|^2=|a|^2+|V|_F^2",
        "distance": r"|W(t)-W(0)|",
        "balance_drift": r"\max_j\frac{|[a_j^2-|v_j|^2](t)-[a_j^2-|v_j|^2](0)|}{|W(t)|^2}",
        "patterns_changed": r"\frac{1}{mn}\sum_{j,i}1[o_{ji}(t)\neq o_{ji}(0)],\ "
        r"o_{ji}=1[\langle u_j,x_i\rangle>0]",
        "rotation": r"\frac{\langle v_j(0),v_j(t)\rangle}{|v_j(0)|\,|v_j(t)|}",
        "relative_norm": r"\frac{|a_jv_j|}{\max_k|a_kv_k|}",
        "balance": r"\frac{a_j^2-|v_j|^2}{|W|^2}",
        "test_error": r"\mathrm{Pr}[\mathrm{not}\ yf(x)>0]",
        "test_error_se": r"\sqrt{e(1-e)/N}",
        "test_loss": r"\frac{1}{N}\sum_{i=1}^N\min((y_i-f(x_i))^2,1)",
        "stable_rank": r"\frac{|V|_F^2}{|V|_2^2}",
        "sigma_1": r"\sigma_1(V)=|V|_2",
        "sigma_2": r"\sigma_2(V)",
        "sigma_3": r"\sigma_3(V)",
        "trajectory_rank": r"\exp(-\sum_k r_k\ln r_k),\ r_k=\frac{\sigma_k^2}{\sum_l\sigma_l^2}",
        "kkt_residual": _KKT,
        "complementarity": r"\frac{\sum_i\lambda_i(p_i(\hat\theta)-1)}{\sum_i\lambda_i}",
        "u": r"u_j=|a_jb_j|",
        "kl_pbar": r"\langle\bar p,\ln(\bar p/u)\rangle+\langle 1,u-\bar p\rangle",
        "c_1": r"\max_{i,r,j}|\langle\nabla_VF_j(x_i),\nabla_VF_j(x_r)\rangle|",
        "c_2": r"\max_{i,r,j\neq k}|\langle\nabla_VF_j(x_i),\nabla_VF_k(x_r)\rangle|",
        "outer_displacement": r"|U_t-U_0|,\ U=(a,c)",
        "inner_displacement": r"|V_t-V_0|_F",
        "smallest_normaliser": r"\min_jN(v_j)",
        "median_normaliser": r"\mathrm{median}_j\,N(v_j)",
        "normaliser": r"N(v_j)=\sqrt{v_j^T\Sigma v_j+\epsilon}",
        "mirror_gap": r"\frac{\max_j|u_j-u_j^{\mathrm{mirror}}|}{\max_ju_j}",
        "perceptron_sum": r"\int_0^t\frac{1}{n}\sum_i|\ell'(p_i)|\,ds",
        "log10_perceptron_sum": r"\log_{10}\int_0^t\frac{1}{n}\sum_i|\ell'(p_i)|\,ds",
        "log10_loss_ratio": r"\log_{10}\max_{i,j}\frac{\ell'(p_i)}{\ell'(p_j)}",
        "loss_ratio": r"\max_{i,j}\frac{\ell'(p_i)}{\ell'(p_j)}",
        "proxy_pl": r"\frac{3R\sqrt{n}\,|\nabla L|}{\sqrt{2}R_{\min}\gamma\,\hat G},\ "
        r"\hat G=-\frac{1}{n}\sum_i\ell'(p_i)",
        "pbar_margin": r"\min_i\langle\bar p,z_i\rangle",
        "covering_radius": r"\max_k\min_j|\frac{v_j(0)}{|v_j(0)|}-\beta_k|",
        "cone_potential": _PHI + r"\ln\sum_j\varphi_{kj}|a_jv_j|",
        "empty_cones": r"\#\{k:\ \varphi_{kj}=0\ \mathrm{for\ all}\ j\}",
        "scalar_potential": _PHI + r"\ln(a_k^2+b_k^2)",
        "batch_norm_potential": r"|U_t-\bar U|^2-|U_0-\bar U|^2+\alpha|V_t-V_0|^2",
    }
)
