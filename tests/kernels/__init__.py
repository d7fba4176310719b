"""What people do in a notebook, tested in real kernels of every version that we promise to work on."""
