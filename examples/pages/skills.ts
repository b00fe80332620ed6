import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { loadSkills, SkillRegistry, skillLifecycle } from 'keelson/skills';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';

// A skill is a folder with a SKILL.md.
const folder = mkdtempSync(join(tmpdir(), 'skills-'));
mkdirSync(join(folder, 'berth'));
const text = '---\nname: berth\ndescription: Finds a berth.\n---\nChoose the first berth that is deep enough.\n';
writeFileSync(join(folder, 'berth', 'SKILL.md'), text);

const workspaceDir = mkdtempSync(join(tmpdir(), 'work-'));
const gate = createTrustGate({ workspaceDir, stateDir: folder });
const { entries } = await loadSkills({ gate, workspaceDir, roots: [{ scope: 'user', folder }] });
const registry = new SkillRegistry();
registry.replace(entries);

const model = scriptedModel([calls('skill', { name: 'berth' }), says('The north quay.')]);
const agent = new Agent({ model, lifecycle: [skillLifecycle(registry)] });
const { messages } = await agent.run('Where do I moor?');
console.log(messages.find(({ role }) => role === 'tool')?.content);
