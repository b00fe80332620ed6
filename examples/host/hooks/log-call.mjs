// A hook of Cursor at afterMCPExecution: appends the name of the tool to a file.
import { appendFileSync } from 'node:fs';

let text = '';
for await (const chunk of process.stdin) text += chunk;
appendFileSync('mcp-calls.txt', `${JSON.parse(text).tool_name}\n`);
