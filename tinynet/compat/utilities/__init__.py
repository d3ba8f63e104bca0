"""The packages of ``torch.utils`` that measure, report and convert."""
