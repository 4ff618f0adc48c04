"""Addition modulo p: data, quadratic networks, their penalty, observables and studies."""
