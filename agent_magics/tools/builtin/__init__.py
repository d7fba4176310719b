"""The catalog: one small file a tool. Each makes its tool from what it needs."""
