"""The audit of OpenMP loops: is what the pragma claims true?"""

from loopxform.analysis.openmp.auditor import audit
from loopxform.analysis.openmp.claim import Claim, Doubt, Finding

__all__ = ["Claim", "Doubt", "Finding", "audit"]
