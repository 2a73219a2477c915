def run(crate, file, everything):
    return []
