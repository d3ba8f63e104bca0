"""Code in LLVM's language."""
