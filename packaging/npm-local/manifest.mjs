// manifest.mjs MACHINE VERSION prints the package.json of the local provider's
// program for x64 or arm64.
const [machine, version] = process.argv.slice(2)

console.log(
  JSON.stringify(
    {
      name: `@agent-sandbox/local-linux-${machine}`,
      version,
      description: `The local provider of agent-sandbox: the sandboxc program for Linux on ${machine}`,
      license: 'Apache-2.0',
      os: ['linux'],
      cpu: [machine],
      bin: { sandboxc: 'bin/sandboxc' },
      exports: { './package.json': './package.json', './bin/sandboxc': './bin/sandboxc' },
      files: ['bin'],
      preferUnplugged: true,
    },
    undefined,
    2,
  ),
)
