import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSkills } from 'keelson/skills';
import { createTrustGate } from 'keelson/trust';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../support/docs/doc-files.js';

const { files } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

test('llms.txt lists every page of the docs by its title, and is in the package', () => {
  const list = readFileSync(`${root}llms.txt`, 'utf8');
  const pages = readdirSync(`${root}docs`).filter((name) => name.endsWith('.md'));
  const titleOf = (page: string) => /^# (.*)$/m.exec(readFileSync(`${root}docs/${page}`, 'utf8'))?.[1];

  expect(list.match(/^- \[.*\]\(docs\/[\w-]+\.md\)$/gm)).toEqual(
    pages.sort().map((page) => `- [${titleOf(page)}](docs/${page})`),
  );
  expect(files).toEqual(expect.arrayContaining(['llms.txt', 'skills', 'AGENTS.md']));
});

test('the skill of the package is one that `loadSkills` reads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const workspaceDir = join(folder, 'work');
  const gate = createTrustGate({ workspaceDir, stateDir: join(folder, 'state') });
  const roots = [{ scope: 'user', folder: `${root}skills` }] as const;
  const { entries, diagnostics } = await loadSkills({ gate, workspaceDir, roots });

  expect(diagnostics).toEqual([]);
  expect(entries.map(({ skill }) => skill.name)).toEqual(['keelson']);
});
