"""gym under its old name: gymnasium, with gym's first interface for programs that expect it."""

import dis
import functools
import sys

import gymnasium
from gymnasium import *  # noqa: F403
from gymnasium import spaces as spaces
from gymnasium import wrappers as wrappers

sys.modules.update({"gym.spaces": spaces, "gym.wrappers": wrappers})
gymnasium.logger.set_level = lambda level: None  # this and `Monitor` are of the first interface
wrappers.Monitor = lambda env, *args, **options: env


def use_of_result():
    """Return the two instructions that follow the program's call: what it does with the result."""
    frame = sys._getframe(2)
    while frame is not None:
        after = following(frame.f_code, frame.f_lasti)
        if after[0].opname != "RETURN_VALUE":
            return after
        frame = frame.f_back  # a wrapper that hands the result on
    return []


@functools.cache
def following(code, place):
    """Return the two instructions of some code that follow a place."""
    steps = dis.get_instructions(code)
    return [step for step in steps if step.offset > place and step.opname != "CACHE"][:2]


class Environment(gymnasium.Wrapper):
    """An environment that answers as in gym's first interface where the program expects that.

    `step` has 4 values if the caller unpacks 4, and `reset` one if the caller neither unpacks two
    nor takes the first. A call of `seed` belongs to the first interface, too.
    """

    first_interface, next_seed = False, None
    reward_range = (-float("inf"), float("inf"))

    def seed(self, seed=None):
        self.first_interface, self.next_seed = True, seed
        return [seed]

    def reset(self, **options):
        if self.next_seed is not None:
            options = {"seed": self.next_seed, **options}
            self.next_seed = None
        state, facts = super().reset(**options)
        used = use_of_result()
        names = [step.opname for step in used]
        if names[:1] == ["UNPACK_SEQUENCE"] or used[:1] and used[0].argval == 0:
            return state, facts
        return state

    def step(self, action):
        state, reward, terminated, truncated, facts = super().step(action)
        used = use_of_result()
        unpacks = used[0].argval if used and used[0].opname == "UNPACK_SEQUENCE" else None
        if unpacks == 4 or unpacks is None and self.first_interface:
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
