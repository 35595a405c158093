module.exports = async () => globalThis.endTestServer?.();
