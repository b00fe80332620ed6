/** Returns the server's name for the agent. It depends on the names in the manifest alone, so that no other server changes it. */
export function serverId(extension: string, server: string): string {
  return extension === server ? server : `${extension}-${server}`;
}
