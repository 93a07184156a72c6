// E2B's own package, unchanged; the environment points it at the local server.
import { Sandbox } from "e2b";

const sandbox = await Sandbox.create();
try {
  const result = await sandbox.commands.run("echo hello from $(id -un)");
  process.stdout.write(result.stdout);
  await sandbox.files.write("data/a.txt", "42");
  console.log(await sandbox.files.read("data/a.txt"));
} finally {
  await sandbox.kill();
}
