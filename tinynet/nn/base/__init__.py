"""What every module is made of: members, state, hooks."""
