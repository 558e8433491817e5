"""One profile for all the laws: no deadline, since machines differ; more examples on request."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "freshet",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("freshet")
