"""gym under its old name: gymnasium, with gym's first interface for programs that call `seed`."""

import sys

import gymnasium
from gymnasium import *  # noqa: F403
from gymnasium import spaces as spaces
from gymnasium import wrappers as wrappers

sys.modules.update({"gym.spaces": spaces, "gym.wrappers": wrappers})


class Environment(gymnasium.Wrapper):
    """An environment that answers as in gym's first interface, once its `seed` is called."""

    first_interface = False

    def seed(self, seed=None):
        self.first_interface, self.next_seed = True, seed
        return [seed]

    def reset(self, **options):
        if not self.first_interface:
            return super().reset(**options)
        seed, self.next_seed = self.next_seed, None
        return super().reset(seed=seed, **options)[0]

    def step(self, action):
        state, reward, terminated, truncated, facts = super().step(action)
        if self.first_interface:
            return state, reward, terminated or truncated, facts
        return state, reward, terminated, truncated, facts

    @property
    def _max_episode_steps(self):
        return self.spec.max_episode_steps


def make(name, **options):
    """Return an environment; an old version of it is replaced by the newest."""
    try:
        return Environment(gymnasium.make(name, **options))
    except gymnasium.error.DeprecatedEnv:
        return Environment(gymnasium.make(name.rpartition("-")[0], **options))
