"""Where each hypothesis of each statement is stated: paper by paper, section or assumption.

`STATED[paper][statement]` maps the words of a hypothesis to the place in that paper. `STANDING` are
the assumptions that a paper makes once for all of it, and `EXEMPT[paper][assumption]` says of each
statement without one of them why it needs none. Network, data and dynamics that a statement is only
ever shown with (`Statement.where`) are no hypotheses here.
"""

from __future__ import annotations

Places = dict[str, str]

# ------------------------------------------------------------------------------- telgarsky22

BALL: Places = {"inputs |x| <= 1": "section 1.2, 'Throughout this work, |x| <= 1'"}
START: Places = {"start a ~ N(0, 1/m), V ~ N(0, I/d)": "section 1.2, initialization"}
LOSSES: Places = {"loss": "section 1.2, l_exp or l_log"}
GF: Places = {"gradient flow": "equation 1.2"}
LINEAR: Places = {
    "a unit u with min_i y_i <x_i, u> >= gamma_linear": "Proposition 1.5",
    **BALL,
}
PARITY: Places = {"x on {+-1/sqrt(d)}^d, y = d x_a x_b": "Proposition 1.6"}
THEOREM_2_1: Places = {
    **BALL,
    **START,
    "loss": "Theorem 2.1, l = l_log",
    "the risk without a penalty": "equation 1.1",
    "Assumption 1.4: gamma_ntk almost surely": "Theorem 2.1, Assumption 1.4",
    "one fresh example a step": "equation 1.1",
    "width m >= (64 ln(t/delta)/gamma_ntk)^2": "Theorem 2.1",
    "step eta in [gamma_ntk/(10 sqrt m), gamma_ntk^2/6400]": "Theorem 2.1",
}
LEMMA_2_3: Places = {
    **BALL,
    **START,
    **LOSSES,
    **GF,
    "Assumption 1.4: gamma_ntk almost surely": "Lemma 2.3, Assumption 1.4",
    "width m >= (640 ln(max(t, n)/delta)/gamma_ntk)^2": "Lemma 2.3; ln(n/delta): its proof, A.3",
}
LEMMA_2_4: Places = {
    **BALL,
    **START,
    **LOSSES,
    **GF,
    "Assumption 1.3: gamma_ntk of the sample": "Lemma 2.4, Assumption 1.3",
    "width m >= 256 ln(n/delta)/gamma_ntk^2": "Lemma 2.4",
    "a time tau with R(W_tau) < l(0)/n and |W_tau - W_0| <= gamma_ntk sqrt(m)/64": "Lemma 2.4",
}
THEOREM_2_2: Places = {
    **BALL,
    **START,
    **LOSSES,
    **GF,
    "Assumption 1.4: gamma_ntk almost surely": "Theorem 2.2, Assumption 1.4",
    "Assumption 1.3: gamma_ntk of the sample": "the event of its proof, Assumption 1.3",
    "width m >= (640 ln(n/delta)/gamma_ntk)^2": "Theorem 2.2",
}
TWO_CONES: Places = {
    "all labels +1": "Proposition 2.6",
    "| |x_i| - 1 |": "Proposition 2.6",
    "<x_i, x_j> across S_1 and S_2": "Proposition 2.6",
}
THEOREM_3_2: Places = {
    **BALL,
    **START,
    "loss": "Theorem 3.2, l = l_exp",
    **GF,
    "Assumption 3.1 on the sample": "Theorem 3.2, Assumption 3.1",
    "eps < gamma_nc": "Assumption 3.1",
    "width m >= 2 (2/eps)^d ln(r/delta)": "Theorem 3.2",
}
TRANSPORT: Places = {
    **BALL,
    **START,
    "Assumption 1.3 with a theta of the outer layer: its gamma, from below": (
        "Lemma A.3, Assumption 1.3"
    ),
}
HOMOGENEOUS = "f is L-homogeneous in its homogeneous parameters"
TELGARSKY22: dict[str, Places] = {
    "Proposition 1.5 (1)": LINEAR,
    "Proposition 1.5 (2)": LINEAR,
    "Proposition 1.5 (3)": LINEAR,
    "Proposition 1.6 (1)": PARITY,
    "Proposition 1.6 (2)": PARITY,
    "Lemma A.2 (norms)": {
        **START,
        **BALL,
        "width m >= 2 ln(1/delta)": "Lemma A.3 (2), where it gives 2 and 2 sqrt m",
    },
    "Lemma A.2 (outputs)": {**START, "inputs |x| <= 1": "Lemma A.2 (2)"},
    "Theorem 2.1 (error)": THEOREM_2_1,
    "Theorem 2.1 (distance)": THEOREM_2_1,
    "Lemma 2.3 (risk)": LEMMA_2_3,
    "Lemma 2.3 (distance)": LEMMA_2_3,
    "Lemma 2.4 (distance)": LEMMA_2_4,
    "Lemma 2.4 (margin)": LEMMA_2_4,
    "Lemma 2.4 (rebalanced)": LEMMA_2_4,
    "Theorem 2.2 (margin)": THEOREM_2_2,
    "Theorem 2.2 (error)": THEOREM_2_2,
    "Theorem 2.2 (error at W_t)": THEOREM_2_2,
    "Lemma 2.5": {
        **BALL,
        "the law of the data": "Lemma 2.5, 'over the draw'",
        "smoothed margin of the last frame": "Lemma 2.5",
    },
    "Proposition 2.6": {
        **TWO_CONES,
        **START,
        **LOSSES,
        "gradient flow": "Proposition 2.6, item 2",
        "x' leaves the data a linear margin below c/(2^15 d)": "its proof, point 4",
        "width m >= m_0": "Proposition 2.6, item 2",
    },
    "Proposition 2.6, item 1": {**TWO_CONES, "a linear margin of the data": "Proposition 2.6"},
    "Lemma A.1": {
        "all labels +1": "Lemma A.1",
        "| |x_i| - 1 |": "Lemma A.1",
        "Assumption 1.1 with alpha_k > 0": "Lemma A.1",
    },
    "Theorem 3.2 (margin)": THEOREM_3_2,
    "Theorem 3.2 (error)": THEOREM_3_2,
    "Theorem 3.2 (potential)": {"loss": "Theorem 3.2, l = l_exp"},
    "Theorem 3.3 (margin)": {
        **BALL,
        "start a, b = +-m^(-1/4), v on the sphere": "Theorem 3.3",
        "loss": "Theorem 3.3, l_exp",
        "gradient flow": "Theorem 3.3",
        "gamma_gl almost surely (Assumption 1.2)": "Theorem 3.3, Assumption 1.2",
        "width m >= 2 (4/gamma_gl)^d ln(r/delta)": "Theorem 3.3",
    },
    "Theorem 3.3 (balance)": {
        "gradient flow": "Theorem 3.3",
        "|a_j(0)| = |b_j(0)| for all j: max_j |a_j(0)^2 - b_j(0)^2|": "section 3.2",
    },
    "Lemma A.3 (1)": TRANSPORT,
    "Lemma A.3 (2)": {**TRANSPORT, "width m >= 2 ln(1/delta)": "Lemma A.3 (2)"},
    "Lemma A.3 (3)": {**TRANSPORT, "width m >= (64 ln(n/delta)/gamma_ntk)^2": "Lemma A.3 (2)"},
    "Lemma A.4": {
        HOMOGENEOUS: "appendix A.3, eq. (A.1)",
        "gradient flow": "eq. (A.1)",
        "log10 R(tau) < log10 l(0)/n at some tau": "Lemma A.4",
    },
    "Lemma A.5": {HOMOGENEOUS: "eq. (A.1)", "loss": "Lemma A.5, l = l_exp"},
    "Lemma A.6": {
        HOMOGENEOUS: "Lemma A.6, L = 2",
        "loss": "Lemma A.5, which its proof uses",
        "gradient flow": "eq. (A.1)",
        "Phi(u_tau) > -infinity at some tau": "Lemma A.6",
        "Phi - (1/2) ln |u| from tau on": "Lemma A.6",
        "d Phi/dt >= Q/n gammahat from tau on, gammahat > 0": "Lemma A.6",
    },
    "Lemma C.1": {
        "start v_j ~ N(0, I/d)": "Lemma C.1",
        "eps with m = 2 (2/eps)^d ln(r/delta)": "Lemma C.1; eps <= 2: two unit vectors",
    },
}

# ------------------------------------------------------------------------------- homogeneity

MIRROR: Places = {
    "loss": "section 1.1, 'Throughout ... the logistic loss'",
    "gradient flow": "section 2, Gradient Flow",
    "start a_j, b_j uniform on +-1/sqrt(m)": "section 2, Architecture",
    "inputs |x| <= 1": "Assumption 2.1; |z_i| <= 1 in the proof of Lemma 3.4, C_1 <= 1 in 4",
}
LEMMAS: Places = {
    **MIRROR,
    "inf over s of min_i <pbar, z_i(s)> is positive": "Lemma 3.4; ub of Lemma 3.3",
}
THEOREM_3_1: Places = {
    **MIRROR,
    "pbar >= 0 with gamma = min_i <pbar, z_i(0)> > 0": "Theorem 3.1; Lemma 3.4",
    "|pbar|_inf <= gamma^3/(4 C_1 [ln(tn)(8R + 2) + 32]^2)": "Theorem 3.1",
    "C_2 <= gamma/(4 [ln(tn)(8R + 2) + 32]^2)": "Theorem 3.1",
}
THEOREM_4_1: Places = {
    **MIRROR,
    "gamma_D of the support": "Theorem 4.1",
    "width m >= max(2^10 ln^2(tn) d^2/gamma^8, 2^10 ln^2(..)(8/gamma)^(2d-2))": "Theorem 4.1",
}
HOMOGENEITY: dict[str, Places] = {
    "Lemma 3.2": {
        "loss": MIRROR["loss"],
        "gradient flow": "Lemma 3.2",
        "|a_j(0)| = |b_j(0)| for all j: max_j |a_j(0)^2 - b_j(0)^2|": "Lemma 3.2",
    },
    "Lemma 3.3 (2)": LEMMAS,
    "Lemma 3.4 (growth)": MIRROR,
    "Lemma 3.4 (size)": LEMMAS,
    "Lemma 3.4 (margin)": LEMMAS,
    "Lemma 3.5 (as in A.3)": LEMMAS,
    "Theorem 3.1 (margin)": THEOREM_3_1,
    "Theorem 3.1 (late)": THEOREM_3_1,
    "Theorem 3.1 (5)": THEOREM_3_1,
    "Theorem 3.6": {
        HOMOGENEOUS: "Theorem 3.6",
        "gradient flow": "section 2; Theorem 1.1 (2)",
        "log10 R(w(tau)) < log10 l(0)/n at some tau": "Theorem 3.6",
    },
    "Theorem 4.1 (margin)": THEOREM_4_1,
    "Theorem 4.1 (late)": THEOREM_4_1,
    "Example 4.1": {"x on corners, y = d^(k/2) prod x_i": "Example 4.1"},
    "Lemma A.1 (2)": {"loss": "Lemma A.1 (2), l_log or l_exp"},
    "Lemma B.1": {
        "inputs |x| <= 1": "appendix B: |sigma(v'x) - sigma(u'x)| <= |v - u| in its proof",
        "start a_j, b_j uniform on +-1/sqrt(m)": "Lemma B.1, beta and v uniform",
        "gamma_D of the support": "Lemma B.1",
        "dimension d": "its proof: 6 <= 48^(d-1)",
        "width m >= 2^10 ln(2n/(delta gamma))^2 (8/gamma)^(2d-2)": "Lemma B.1",
    },
}

# ------------------------------------------------------------------------------------ frei23

OUTER = "outer weights a_j = +-1/sqrt(m): max_j | |a_j| sqrt(m) - 1 |"
NET: Places = {
    OUTER: "section 2, Neural networks",
    "neurons of each sign m_1, m_2": "section 3, equation (2)",
}
NEAR = "near-orthogonal data: Rmin^2 >= 3 gamma^-3 R^2 n P"
POINT: Places = {
    **NET,
    NEAR: "Theorem 3.2",
    "W is a KKT point: residual at the last frame": "Theorem 3.2",
}
SEPARABLE: Places = {**POINT, "linearly separable data": "Theorem 3.2, item 7: z* exists"}
FITS: Places = {
    **NET,
    NEAR: "Theorem 3.4",
    "gradient flow": "Theorem 3.4",
    "loss": "section 2, exponential or logistic",
}
SETTING: Places = {
    "loss": "section 4, 'for the logistic loss'",
    "the risk without a penalty": "section 2, gradient descent",
    OUTER: NET[OUTER],
    "start W ~ N(0, w^2)": "section 2, gradient descent",
    "step alpha (A1)": "Theorem 4.2; appendix E (A1)",
    "start w (A2)": "Theorem 4.2; appendix E (A2)",
}
CLOSE = "near-orthogonal data: Rmin^2 >= 5 gamma^-2 C_R n P"
GAUSSIAN_W: Places = {"start W ~ N(0, w^2)": "section 2, gradient descent"}
FREI23: dict[str, Places] = {
    "Theorem 3.1": {
        "gradient flow": "Theorem 3.1",
        "loss": "Theorem 3.1, exponential or logistic",
        "log10 L(t_0) < log10 log(2)/n": "Theorem 3.1",
    },
    "Lemma 3.3": {"x_i ~ N(0, Sigma), Tr Sigma = d, |Sigma| = O(1)": "Lemma 3.3"},
    "Theorem 3.4 (time)": FITS,
    "Theorem 3.4 (15)": FITS,
    "Theorem 3.4 (mean)": {NEAR: "Theorem 3.4"},
    "Corollary 3.5": FITS,
    "Lemma B.8": {"eps <= 1/72": "Lemma B.8, proof: 3 <= 1/(24 eps)"},
    **{f"Theorem 3.2, item {item}": POINT for item in range(1, 7)},
    **{f"Theorem 3.2, item 3 ({part})": POINT for part in ("signs", "lower", "upper")},
    "Theorem 3.2, item 7 (margins)": SEPARABLE,
    "Theorem 3.2, item 7 (norm)": SEPARABLE,
    **{f"Theorem 4.2, item {item}": {**SETTING, CLOSE: "Theorem 4.2"} for item in (1, 2, 3)},
    "Lemma E.1 (norms)": GAUSSIAN_W,
    "Lemma E.1 (mean)": GAUSSIAN_W,
    "Lemma E.4": {**SETTING, CLOSE: "Lemma E.4"},
    "Lemma E.11 (a)": SETTING,
    "Lemma E.11 (c)": {
        **SETTING,
        "near-orthogonal data: Rmin^2 >= 8 gamma^-2 n P": "Lemma E.11 (c)",
    },
    **{f"Lemma E.{number}": {**SETTING, CLOSE: f"Lemma E.{number}"} for number in (12, 13, 14)},
    "Initial stable rank": GAUSSIAN_W,
}

# ------------------------------------------------------------------------------------- wei19

ON_D: Places = {"data of (2.1)": "Theorem 2.1", "n <= d^2": "Theorem 2.1"}
GLOBAL = "the global minimiser of L_lambda"
WEI19: dict[str, Places] = {
    "Theorem 2.1 (i)": ON_D,
    "Theorem 2.1 (ii)": {
        **ON_D,
        "width m >= 4": "Theorem 2.1, 'at least 4 hidden units'",
        "lambda <= 1/poly(n), positive": "Theorem 2.1",
        GLOBAL: "section 2, after (2.2)",
    },
    "Theorem 3.3": {
        "Assumption 3.1: Phi differentiable": "Theorem 3.3, Assumption 3.1",
        "sigma = exp(-d log(1/e) poly)": "Theorem 3.3",
    },
    "Theorem 4.1": {
        "loss": "section 4, (4.1)",
        "gamma* > 0": "Theorem 4.1",
        GLOBAL: "section 4, after (4.1)",
    },
    "Theorem C.1": {
        "loss": "appendix C.1, (C.1)",
        "gamma* > 0": "Theorem C.1",
        GLOBAL: "appendix C.1",
    },
    "Theorem C.2": {
        "loss": "section 4, (4.1)",
        "gamma* > 0": "Theorem C.2, 'in the setting of Theorem C.1'",
        "L_lambda(Theta) <= alpha L_lambda(Theta_lambda), alpha <= 2, lambda small as stated": (
            "Theorem C.2"
        ),
    },
    "Theorem 4.3, Proposition B.10": {
        "every weight counts in |Theta|: fixed inner weights have |v_j| <= 1": (
            "section 4, |Theta| of all parameters; (B.14): features on the sphere"
        ),
    },
    "Corollary 4.2, Proposition D.1": {
        "the law of the data": "Proposition D.1, 'over the draw'",
        "a separating Theta: its margin": "Proposition D.1",
    },
    "Lemma E.7": {
        "Assumption 3.1: Phi differentiable": "appendix E.1, Assumptions E.1 to E.3",
        "rho follows (3.2)": "Lemma E.7",
    },
    "Theorem B.9": {
        "loss": "Theorem B.9, squared",
        "a network of width m fits the data": "Theorem B.9",
        GLOBAL: "Theorem B.9",
    },
}

# --------------------------------------------------------------------------------- batchnorm

CENTRED: Places = {"inputs |x - mu| <= 1": "section 1.3, Problem setting"}
NORMAL: Places = {"start a ~ N(0, 1/m), V ~ N(0, I/d), c = 1": "section 1.3, Initialization"}
INVERSES: Places = {"Assumption 1.1: eps_N >= max_j 1/N(v_j)": "section 1.3, Assumption 1.1"}
GAMMA = "Assumption 1.2: gamma = gamma_a + gamma_c > 0 (V at its start, Delta_V = 0)"
MOST = "width m <= delta exp(d/8)"
RADIUS = "R = gamma^(1/3) m^(1/6)/(27 eps_N) (Lemma D.3)"
SETUP: Places = {**CENTRED, **NORMAL, **INVERSES}
TRAINED: Places = {
    "loss": "section 1.3, SGD and GD",
    "the risk without a penalty": "section 1.3, SGD and GD",
    **SETUP,
    GAMMA: "Theorems 2.1 and 2.2, Assumption 1.2",
    "width m >= 2^29 eps_N^3 ln^1.5(5nt/delta)/gamma^2": "Theorems 2.1 and 2.2",
    MOST: "Theorems 2.1 and 2.2",
    RADIUS: "Lemma D.3, which E.5 and F.4 use with this R",
    "step eta = 1/(28 eps_N gamma^(2/3) m^(1/3))": "Theorems 2.1 and 2.2",
}
FRESH: Places = {**TRAINED, "one fresh example a step": "section 1.3, SGD; Lemma E.2"}
LEMMA_WIDTH = "width m >= 2^29 eps_N^3 ln^1.5(5n/delta)/gamma^2"
ALIGNED: Places = {
    **SETUP,
    GAMMA: "Lemma D.3, Assumption 1.2",
    LEMMA_WIDTH: "Lemma D.3",
    MOST: "Lemma D.3",
    RADIUS: "Lemma D.3, R in [8, ..]",
}
BATCHNORM: dict[str, Places] = {
    "Assumption 1.1": NORMAL,
    "Assumption 1.2": NORMAL,
    "Proposition 1.1": {
        **NORMAL,
        "N(v) = |v|_Sigma (appendix G)": "appendix G",
        "width m >= m'": "Assumption 1.2",
    },
    **{f"Theorem 2.1 ({part})": FRESH for part in ("error", "outer", "inner")},
    **{f"Theorem 2.2 ({part})": TRAINED for part in ("error", "as proved", "outer", "inner")},
    "Lemma C.1": SETUP,
    "Lemma C.2 (outer)": NORMAL,
    "Lemma C.2 (inner)": {
        **NORMAL,
        MOST: "Lemma C.2",
        "dimension d (for 1/|v_j|)": "Lemma C.2, 'Suppose d >= 2'",
    },
    "Lemma D.3 (1)": ALIGNED,
    "Lemma D.3 (2)": ALIGNED,
    "Lemma E.1": {
        **SETUP,
        LEMMA_WIDTH: "Lemma E.1",
        MOST: "Lemma E.1",
        "|U_t - U_0| <= gamma^(1/3) m^(1/6)/(27 eps_N)": "Lemma E.1, W' in Gamma",
        "|V_t - V_0| <= 1/(2 eps_N)": "Lemma E.1, W' in Gamma",
    },
    "Lemma F.1": CENTRED,
}

STATED: dict[str, dict[str, Places]] = {
    "telgarsky22": TELGARSKY22,
    "homogeneity": HOMOGENEITY,
    "frei23": FREI23,
    "wei19": WEI19,
    "batchnorm": BATCHNORM,
}

# What a paper assumes throughout, by the words of the hypothesis.
STANDING: dict[str, dict[str, str]] = {
    "telgarsky22": {"inputs |x| <= 1": "section 1.2"},
    "homogeneity": {"inputs |x| <= 1": "Assumption 2.1", "loss": "section 1.1"},
    "frei23": {OUTER: "section 2"},
    "wei19": {},
    "batchnorm": {**CENTRED, **NORMAL},
}
NO_DATA = "about weights alone"
UNIT = "its own data have |x| = 1"
LIMIT = "any homogeneous f: appendix A.3 is 'more general than the rest of the work'"
POINTS = "about the data alone"
EXEMPT: dict[str, dict[str, dict[str, str]]] = {
    "telgarsky22": {
        "inputs |x| <= 1": {
            "Proposition 1.6 (1)": UNIT,
            "Proposition 1.6 (2)": UNIT,
            "Proposition 2.6": UNIT,
            "Proposition 2.6, item 1": UNIT,
            "Lemma A.1": UNIT,
            "Theorem 3.2 (potential)": NO_DATA,
            "Theorem 3.3 (balance)": "an identity of the flow, whatever the data",
            "Lemma A.4": LIMIT,
            "Lemma A.5": LIMIT,
            "Lemma A.6": LIMIT,
            "Lemma C.1": NO_DATA,
        },
    },
    "homogeneity": {
        "inputs |x| <= 1": {
            "Lemma 3.2": "an identity of the flow, whatever the features",
            "Theorem 3.6": "any h: 'do not require boundedness', after the theorem",
            "Example 4.1": UNIT,
            "Lemma A.1 (2)": "about losses alone",
        },
        "loss": {
            "Theorem 3.6": "logistic, and exponential as in Lyu and Li, whom it extends",
            "Example 4.1": POINTS,
            "Lemma B.1": "about data and start alone",
        },
    },
    "frei23": {
        OUTER: {
            "Theorem 3.1": "any homogeneous network",
            "Lemma 3.3": POINTS,
            "Theorem 3.4 (mean)": POINTS,
            "Lemma B.8": POINTS,
            "Lemma E.1 (norms)": "about W alone",
            "Lemma E.1 (mean)": "about W alone",
            "Initial stable rank": "about W alone",
        },
    },
    "wei19": {},
    "batchnorm": {
        "inputs |x - mu| <= 1": {
            "Assumption 1.1": "itself an assumption",
            "Assumption 1.2": "itself an assumption",
            "Proposition 1.1": "the dyadic set has |x| <= 1/2",
            "Lemma C.2 (outer)": NO_DATA,
            "Lemma C.2 (inner)": NO_DATA,
        },
        "start a ~ N(0, 1/m), V ~ N(0, I/d), c = 1": {
            "Lemma F.1": "about every class around every V_0",
        },
    },
}
