"""fad.compat: other packages' public names over fad, so that code written for them runs after a changed import."""
