/** Real proxies in front of the service, configured as deploy/ has it but for addresses and certificates. */
import assert from "node:assert/strict";

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Trusts the proxy's certificate. */
  readonly client: Deno.HttpClient;
}

/** The text of a file of deploy/, with each of `replaced` in it, which has to be there. */
export async function deployed(name: string, replaced: Readonly<Record<string, string>>): Promise<string> {
  let text = await Deno.readTextFile(new URL(`../deploy/${name}`, import.meta.url));
  for (const [from, to] of Object.entries(replaced)) {
    assert.ok(text.includes(from), `${name} holds ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Runs a command to its end, or in the background until it is stopped. */
function run(command: string, args: string[], env: Record<string, string> = {}): Deno.ChildProcess {
  return new Deno.Command(command, { args, env, stdin: "null", stdout: "null", stderr: "null" }).spawn();
}

/** Waits until a port is listened on, or the process ends. */
export async function listening(port: number, child: Deno.ChildProcess): Promise<void> {
  let isOver = false;
  void child.status.then(() => isOver = true);
  while (true) {
    assert.ok(!isOver, "the proxy ended");
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

async function proxy(child: Deno.ChildProcess, port: number, scheme: string, caCerts: string[]): Promise<Proxy> {
  const client = Deno.createHttpClient({ caCerts });
  await listening(port, child);
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      child.kill("SIGTERM");
      await child.status;
    },
  };
}

/** nginx with deploy/nginx.conf and a certificate of its own. */
export async function startNginx(folder: string, service: number): Promise<Proxy> {
  const port = freePort();
  const [cert, key] = [`${folder}/agui.pem`, `${folder}/agui.key`];
  const subject = ["-subj", "/CN=agui.example.com", "-addext", "subjectAltName=IP:127.0.0.1"];
  const leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
  const made = run("openssl", [
    "req",
    "-x509",
    "-nodes",
    "-newkey",
    "rsa:2048",
    "-keyout",
    key,
    "-out",
    cert,
    ...subject,
    ...leaf,
  ]);
  assert.equal((await made.status).code, 0);
  const server = await deployed("nginx.conf", {
    "listen 443": `listen 127.0.0.1:${port}`,
    "/etc/ssl/agui.pem": cert,
    "/etc/ssl/agui.key": key,
    "127.0.0.1:8000": `127.0.0.1:${service}`,
  });
  const own = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) =>
    `${kind}_temp_path ${folder}/${kind};`
  );
  const config = `pid ${folder}/nginx.pid; events {} http { access_log off; ${own.join(" ")}\n${server}\n}`;
  await Deno.writeTextFile(`${folder}/nginx.conf`, config);
  const directives = `daemon off; error_log stderr;${Deno.uid() === 0 ? " user root;" : ""}`;
  const child = run("nginx", ["-p", folder, "-e", "stderr", "-c", `${folder}/nginx.conf`, "-g", directives]);
  return await proxy(child, port, "https", [await Deno.readTextFile(cert)]);
}

/** Caddy with deploy/Caddyfile, without TLS. */
export async function startCaddy(folder: string, service: number): Promise<Proxy> {
  const port = freePort();
  const site = await deployed("Caddyfile", {
    "agui.example.com {": `http://127.0.0.1:${port} {`,
    "127.0.0.1:8000": `127.0.0.1:${service}`,
  });
  await Deno.writeTextFile(`${folder}/Caddyfile`, `{\n\tadmin off\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n${site}`);
  const child = run("caddy", ["run", "--adapter", "caddyfile", "--config", `${folder}/Caddyfile`], {
    "XDG_DATA_HOME": folder,
    "XDG_CONFIG_HOME": folder,
  });
  return await proxy(child, port, "http", []);
}

/** HAProxy with deploy/haproxy.cfg in front of three instances. */
export async function startHaproxy(folder: string, services: readonly number[]): Promise<Proxy> {
  const port = freePort();
  const instances = services.map((service, at): [string, string] => [
    `10.0.0.${at + 1}:8000`,
    `127.0.0.1:${service}`,
  ]);
  const config = await deployed("haproxy.cfg", { ":8080": `127.0.0.1:${port}`, ...Object.fromEntries(instances) });
  await Deno.writeTextFile(`${folder}/haproxy.cfg`, config);
  return await proxy(run("haproxy", ["-db", "-f", `${folder}/haproxy.cfg`]), port, "http", []);
}
