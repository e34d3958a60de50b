// An OAuth authorization server for the tests: oidc-provider on a free port of
// the loopback interface. It gives JWT access tokens to clients with a secret
// for the resource they name, signed with the algorithm that the client's name
// ends in.
//
//     node issuer.mjs NODE_MODULES
//
// It prints {"issuer": …} when it can be reached, and ends when its standard
// input does, so that it does not outlive the test.

import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = process.argv[2];
const load = (name) => import(pathToFileURL(join(modules, name)).href);
const { Provider } = await load('oidc-provider/lib/index.js');
const { exportJWK, generateKeyPair } = await load('jose/dist/webapi/index.js');

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const keys = await Promise.all(
  algorithms.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `key-${alg}` };
  }),
);

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys },
    clients: algorithms.map((alg) => ({
      client_id: `agent-${alg}`,
      client_secret: 'a secret of the tests alone',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
    })),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (ctx, resource, client) => ({
          audience: resource,
          scope: 'workspace admin',
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg: client.clientId.replace('agent-', '') } },
        }),
      },
    },
    scopes: ['workspace', 'admin'],
  });
  server.on('request', provider.callback());
  console.log(JSON.stringify({ issuer }));
});

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
