export default {
  output: 'standalone',
  ...(process.env.EXTERNAL && { serverExternalPackages: ['keelson'] }),
};
