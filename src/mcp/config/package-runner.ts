import { basename } from 'node:path';

/** Programs that install a package before they run it. A list names the subcommands that do so. */
const RUNNERS: Readonly<Record<string, true | readonly string[]>> = {
  npx: true,
  pnpx: true,
  bunx: true,
  uvx: true,
  npm: ['exec', 'x', 'init'],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  bun: ['x'],
  uv: ['run', 'tool'],
  pipx: ['run'],
  deno: ['run'],
  docker: ['run'],
  podman: ['run'],
};

/** True if the command may install the server before it starts, as `npx` does with an empty cache. */
export function isPackageRunner(command: string, args: readonly string[]): boolean {
  const program = basename(command.replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.(?:cmd|exe|ps1|bat)$/, '');
  // On Windows, configurations start npx with `cmd /c npx`.
  const [option = '', inner] = args;
  if (program === 'cmd' && option.toLowerCase() === '/c' && inner !== undefined) {
    return isPackageRunner(inner, args.slice(2));
  }
  const subcommands = Object.hasOwn(RUNNERS, program) ? RUNNERS[program] : undefined;
  if (subcommands === undefined || subcommands === true) return subcommands === true;
  return subcommands.includes(args.find((arg) => !arg.startsWith('-')) ?? '');
}
