"""A VAE and a GAN: two optimizers, schedulers, detached samples, a loss with two parts."""

from typing import Tuple

import tinynet as torch
import tinynet.nn as nn
import tinynet.nn.functional as F
import tinynet.optim as optim
from tinynet.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LRScheduler, ReduceLROnPlateau


class VAE(nn.Module):
    def __init__(self, z_dim: int = 4) -> None:
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc21, self.fc22 = nn.Linear(32, z_dim), nn.Linear(32, z_dim)
        self.decoder = nn.Sequential(
            nn.Linear(z_dim, 32), nn.ReLU(inplace=True), nn.Linear(32, 64), nn.Sigmoid()
        )

    def encode(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu: torch.Tensor, logvar: torch.Tensor) -> torch.Tensor:
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mu, logvar = self.encode(x.view(-1, 64))
        z = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar


def vae_loss(
    recon: torch.Tensor, x: torch.Tensor, mu: torch.Tensor, logvar: torch.Tensor
) -> torch.Tensor:
    bce = F.binary_cross_entropy(recon, x.view(-1, 64), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


class Generator(nn.Module):
    def __init__(self, nz: int = 8, ngf: int = 4) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self, ndf: int = 4) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(1, ndf, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True)]
        layers += [nn.Dropout2d(0.1), nn.Conv2d(ndf, 1, 4)]
        self.main = nn.Sequential(*layers)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.main(input).view(-1, 1).squeeze(1)


def weights_init(m: nn.Module) -> None:
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


def train_vae(data: torch.Tensor, steps: int) -> float:
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    plateau = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=2)
    value = 0.0
    for _ in range(steps):
        recon, mu, logvar = model(data)
        loss = vae_loss(recon, data, mu, logvar) / len(data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plateau.step(loss.item())
        value = loss.item()
    print(optimizer.param_groups[0]["lr"])
    return value


def train_gan(real: torch.Tensor, steps: int, nz: int = 8) -> None:
    netG, netD = Generator(nz), Discriminator()
    netG.apply(weights_init)
    netD.apply(weights_init)
    criterion = nn.BCEWithLogitsLoss()
    optimizerD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    schedulers: list[LRScheduler] = [
        CosineAnnealingLR(optimizerD, T_max=steps),
        LambdaLR(optimizerG, lr_lambda=lambda epoch: 0.95**epoch),
    ]
    fixed_noise = torch.randn(4, nz, 1, 1)
    for i in range(steps):
        netD.zero_grad()
        label = torch.full((real.size(0),), 1.0, dtype=torch.float)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        noise = torch.randn(real.size(0), nz, 1, 1)
        fake = netG(noise)
        label.fill_(0.0)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()

        netG.zero_grad()
        label.fill_(1.0)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        optimizerG.step()
        for scheduler in schedulers:
            scheduler.step()
        print(f"[{i}] Loss_D: {errD.item():.3f} Loss_G: {errG.item():.3f}", output.mean().item())
    with torch.no_grad():
        sample = netG(fixed_noise).detach().cpu()
        print(sample.shape, sample.clamp(0, 1).max().item() <= 1)


def main() -> None:
    torch.manual_seed(0)
    data = torch.rand(16, 1, 8, 8)
    print(train_vae(data, 3))
    train_gan(data * 2 - 1, 2)


if __name__ == "__main__":
    main()
