import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goTool } from '../../scripts/lib/go-tool.js';

const TOOL = {
  name: 'a-tool-that-nobody-built',
  module: 'example.com/tool',
  version: 'v1.0.0',
  folder: '.',
};

describe('goTool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'its-go-'));
  const before = process.env['PATH'];
  afterEach(() => void (process.env['PATH'] = before));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('says so where there is no Go', () => {
    process.env['PATH'] = folder;
    expect(() => goTool(TOOL)).toThrow('the toolchain of Go is not installed');
  });

  it('says what Go says where it cannot build the tool', () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'go'), '#!/bin/sh\necho "no such module" >&2\nexit 1\n', {
      mode: 0o755,
    });
    process.env['PATH'] = bin;
    expect(() => goTool(TOOL)).toThrow('go mod failed:\nno such module');
  });
});
