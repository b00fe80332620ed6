// A hook of Claude Code at PreToolUse: exit code 2 blocks the tool call, and standard error is the reason.
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { tool_name: tool } = JSON.parse(text);
console.error(`${tool} may change something.`);
process.exitCode = 2;
