"""A PyTorch loop of your own: four lines record it, and then theory is asked about it."""

import torch

import marginscope as ms

torch.manual_seed(0)
x = torch.randint(0, 2, (48, 8)) * 2.0 - 1.0  # corners of the cube, as points of R^8
y = x[:, 0] * x[:, 1]  # 2-sparse parity: labels -1 and +1
net = torch.nn.Sequential(
    torch.nn.Linear(8, 32, bias=False), torch.nn.ReLU(), torch.nn.Linear(32, 1, bias=False)
)
criterion, eta, steps = torch.nn.SoftMarginLoss(), 0.5, 1000  # ln(1 + exp(-y f))
optimiser = torch.optim.SGD(net.parameters(), lr=eta)

# Frame 0 is the network as it is here. `dynamics` and `eta` say how the loop trains: t = eta steps.
settings = {"dynamics": "gd", "eta": eta, "until": steps, "overwrite": True}
with ms.record("pytorch.msrun", x, y, loss=criterion, model=net, **settings) as r:
    for t in range(1, steps + 1):
        optimiser.zero_grad()
        risk = criterion(net(x)[:, 0], y)
        risk.backward()
        optimiser.step()
        if r.due(t):  # frames lie equally spaced in log t
            r.frame(t, risk=risk)  # compared with the recorded network's, and kept

with ms.open("pytorch.msrun") as run:
    print(run)
    gamma = run.margins(limit=20.0)["gamma_gl"]  # the largest margin that any network has
    print(gamma)
    print(f"reached: {run['hard_margin'][-1] / (gamma.upper / 2):.0%} of gamma_gl / 2")
    for verdict in run.theorems(["gamma_gl"]):
        print(repr(verdict))
    run.figure("pytorch.png", panels=["neurons", "rotations", "margins"], dpi=150)
