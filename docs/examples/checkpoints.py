"""Checkpoints of a training that is over become a run, and are asked what theory says of them."""

from pathlib import Path

import torch

import marginscope as ms

# An earlier training, which knew nothing of Marginscope and saved its weights now and then.
torch.manual_seed(1)
x = torch.randn(40, 6)
y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()  # labels 0 and 1
net = torch.nn.Sequential(torch.nn.Linear(6, 24), torch.nn.ReLU(), torch.nn.Linear(24, 1))
optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
folder = Path("checkpoints")
folder.mkdir(exist_ok=True)
for step in range(401):
    if step % 20 == 0:
        torch.save({"model": net.state_dict(), "step": step}, folder / f"{step:05}.pt")
    optimiser.zero_grad()
    torch.nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y.float()).backward()
    optimiser.step()

# What is needed now: the files, the data, the loss, and what the arrays are called. The steps are
# in the files' names (None), and nothing but tensors is read. The biases b (inner) and c (outer)
# are there too.
run = ms.load(
    folder,
    None,
    x,
    y,
    loss="logistic",
    V=("model", "0.weight"),
    b=("model", "0.bias"),
    a=("model", "2.weight"),
    c=("model", "2.bias"),
    dynamics="adam",
    eta=1e-2,
    path="checkpoints.msrun",
    overwrite=True,
)
with run:
    print(run)
    print(f"training error: {run['train_error'][0]:.3g}, {run['train_error'][-1]:.3g} in the end")
    print(f"linear margin of the data: {run.margins(['gamma_linear'])['gamma_linear']!r}")
