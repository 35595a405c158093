module.exports = async () => globalThis.testServer?.stop();
