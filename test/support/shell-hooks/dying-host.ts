import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { shellHooks } from 'keelson/shell-hooks';

// Starts a hook and ends this process while the hook is running.
const [workspaceDir = '', way] = process.argv.slice(2);
const { runner } = shellHooks({
  workspaceDir,
  hooks: [{ event: 'before_tool', name: 'slow', command: 'sh', args: ['-c', 'echo $$ > pid; sleep 60'] }],
});
void runner.runEvent({ event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) });
const timer = setInterval(() => {
  if (!existsSync(join(workspaceDir, 'pid'))) return;
  clearInterval(timer);
  setTimeout(() => (way === 'exit' ? process.exit(0) : process.kill(process.pid, 'SIGINT')), 50);
}, 10);
