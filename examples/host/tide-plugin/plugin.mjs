// A class as a plugin: brings a tool, and tells the host application which tools the agent has.
// biome-ignore lint/style/noDefaultExport: a plugin is a default export
export default class TidePlugin {
  name = 'tide-tables';
  tools = [
    {
      name: 'draught',
      description: 'The largest draught at the quay.',
      inputSchema: { type: 'object' },
      execute: () => ({ content: `${this.metres} metres` }),
    },
  ];

  /** @param {{ metres?: number }} options */
  constructor({ metres = 3 } = {}) {
    this.metres = metres;
  }

  /** @param {import('keelson/plugins').PluginContext} context */
  onInit({ config, hostConfig, toolRegistry }) {
    const count = toolRegistry.list().length;
    console.log(`plugin: ${config.plugins.length} in the configuration, quay ${hostConfig?.quay}, ${count} tools`);
  }
}
