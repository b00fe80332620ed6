import { Agent } from 'keelson';
import { defineStep, durable } from 'keelson/durable';
import { scriptedModel } from 'keelson/testing';

// Stands for a table of a database, with the key of a step as its primary key.
const table = new Map();
const stepOf = (job = 'job-1') =>
  defineStep(job, async (name, run, { key, kind }) => {
    if (table.has(key)) return JSON.parse(table.get(key));
    const value = await run();
    table.set(key, JSON.stringify(value));
    console.log(`stored ${name} (${kind})`);
    return value;
  });

const model = scriptedModel(['In the harbour.']);
const ask = () => new Agent(durable({ step: stepOf() }).options({ model })).run('Where are we?');
console.log((await ask()).text);
console.log((await ask()).text, model.requests.length);
