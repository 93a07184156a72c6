// The published npm e2b client, driven by lines of JSON (see bench/peer.go).
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { Sandbox } from "e2b";

const sandbox = await Sandbox.connect(process.argv[2]);

const jobs = {
  run: () => sandbox.commands.run("true"),
  exists: () => sandbox.files.exists("/etc/passwd"),
  stdout: ({ bytes }) => sandbox.commands.run(`dd if=/dev/zero bs=64k count=${bytes / 65536} status=none`, { timeoutMs: 0 }),
  upload: ({ from, to }) => sandbox.files.write(to, Readable.toWeb(createReadStream(from, { highWaterMark: 1 << 20 })), { requestTimeoutMs: 0 }),
  download: async ({ from, to, gzip }) => {
    const stream = await sandbox.files.read(from, { format: "stream", gzip, requestTimeoutMs: 0 });
    await stream.pipeTo(Writable.toWeb(createWriteStream(to)));
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const ms = [];
  try {
    for (let i = 0; i < (job.n ?? 1); i++) {
      const began = performance.now();
      await jobs[job.op](job);
      ms.push(performance.now() - began);
    }
    console.log(JSON.stringify({ ms, rss: process.resourceUsage().maxRSS }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
process.exit(0);
