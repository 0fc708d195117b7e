import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { chmod, chown, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A self-signed certificate for `receiver.example`, valid for a hundred years and used only in tests. */
export const testCertificate = {
  host: 'receiver.example',
  cert: `-----BEGIN CERTIFICATE-----
MIIBqTCCAVCgAwIBAgIUHvbeMnXWOMERPRaofIbdv6LXMM0wCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQcmVjZWl2ZXIuZXhhbXBsZTAgFw0yNjExMjEwMDM5MjVaGA8y
MTI2MTAyODAwMzkyNVowGzEZMBcGA1UEAwwQcmVjZWl2ZXIuZXhhbXBsZTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABOqEvIoWOjAJDP0wcHa6aDjmthE805ZW+dqf
J9HlJBU9jL39Z+7V06Of88g4WBXHmIz8piWv57vN2UfWUUNuSXSjcDBuMB0GA1Ud
DgQWBBTPQrAEXbq0BRTkrAzG73XdiQxKdjAfBgNVHSMEGDAWgBTPQrAEXbq0BRTk
rAzG73XdiQxKdjAPBgNVHRMBAf8EBTADAQH/MBsGA1UdEQQUMBKCEHJlY2VpdmVy
LmV4YW1wbGUwCgYIKoZIzj0EAwIDRwAwRAIgMgRpjB0QqVqpJ3bBIjFTBpR5N91z
MyLtBsJZZJTsl5sCIFzewJAzvsTXiKz6RzWDt6s3pZWmiZJjRxBcXbm4mSf1
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZD2wAV7d6vUcFBto
aOlwRum7Qfmis1NV8B4qfKA1NrOhRANCAATqhLyKFjowCQz9MHB2umg45rYRPNOW
VvnanyfR5SQVPYy9/Wfu1dOjn/PIOFgVx5iM/KYlr+e7zdlH1lFDbkl0
-----END PRIVATE KEY-----
`,
}

/** The same for `localhost` and `127.0.0.1`. */
export const loopbackCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUVt1fRYAN8j9elfGOM5i9/4f6EIcwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjExMzI1MloYDzIxMjYxMDI5
MTEzMjUyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQKS4tfyJjY3gvcHopC1ELMxLdejGcW155Qu2nTEDkm2hLYELlcjHFp
+Xn3GZGH9bBqR9objwBvnHKlvkHUn6Uho28wbTAdBgNVHQ4EFgQUPzs8ZJegvn6N
3Exf2bejUmATuSYwHwYDVR0jBBgwFoAUPzs8ZJegvn6N3Exf2bejUmATuSYwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAMCiexDXVXhiEdVWOm00dQKe86B8sHuQ2AN/cCN6bo0BAiBv
eE/zcocTz62hTof11PiJuV2D362ewdNvoVeNRuTV1A==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgFCi9ew9zc1CQDD/b
ydn3Y5nDh1wcN2Br7W04EmJpfcKhRANCAAQKS4tfyJjY3gvcHopC1ELMxLdejGcW
155Qu2nTEDkm2hLYELlcjHFp+Xn3GZGH9bBqR9objwBvnHKlvkHUn6Uh
-----END PRIVATE KEY-----
`,
}

export interface CertificateFiles {
  cert: string
  key: string
}

/** Makes a certificate authority: a key and a self-signed certificate. */
export async function createAuthority(folder: string, name: string): Promise<CertificateFiles> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const extensions = [extension(oids.basicConstraints, der(tags.sequence, isAuthority))]
  const certificate = createCertificate({ issuer: name, subject: name, publicKey, extensions }, privateKey)
  return write(folder, name, certificate, privateKey)
}

/** Issues a certificate for a common name and, for servers, a host name. */
export async function issueCertificate(
  authority: CertificateFiles,
  { folder, commonName, host, validFrom }: { folder: string; commonName: string; host?: string; validFrom?: number },
): Promise<CertificateFiles> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = new X509Certificate(await readFile(authority.cert)).subject.replace(/^CN=/, '')
  const names = host === undefined ? [] : [der(tags.sequence, der(tags.hostName, Buffer.from(host)))]
  const extensions = [
    extension(oids.basicConstraints, der(tags.sequence)),
    ...names.map((each) => extension(oids.subjectAltName, each)),
  ]
  const signer = await readFile(authority.key, 'utf8')
  const certificate = createCertificate({ issuer, subject: commonName, publicKey, extensions, validFrom }, signer)
  return write(folder, commonName, certificate, privateKey)
}

/** Writes a file that only the owner of the folder can read, such as the user of PostgreSQL. */
export async function writePrivate(file: string, content: string): Promise<void> {
  await writeFile(file, content, { mode: 0o600 })
  await chmod(file, 0o600)
  const { uid, gid } = await stat(path.dirname(file))
  await chown(file, uid, gid)
}

/** Tags of ASN.1, as X.509 uses them. */
const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  text: 0x0c,
  time: 0x17,
  sequence: 0x30,
  set: 0x31,
  hostName: 0x82,
  version: 0xa0,
  extensions: 0xa3,
} as const

const oids = {
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  ecdsaWithSha256: '2a8648ce3d040302',
} as const

const isAuthority = Buffer.from([tags.boolean, 1, 0xff])
const day = 24 * 60 * 60 * 1000

interface Certificate {
  issuer: string
  subject: string
  publicKey: KeyObject
  extensions: Buffer[]
  /** In milliseconds; yesterday by default. The certificate is valid for three days. */
  validFrom?: number | undefined
}

/** Returns a signed certificate in PEM. Node.js reads certificates but does not create them. */
function createCertificate(
  { issuer, subject, publicKey, extensions, validFrom = Date.now() - day }: Certificate,
  signer: KeyObject | string,
): string {
  const algorithm = der(tags.sequence, objectId(oids.ecdsaWithSha256))
  const validity = [validFrom, validFrom + 3 * day].map((time) => der(tags.time, Buffer.from(toTime(time))))
  const content = der(
    tags.sequence,
    der(tags.version, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer),
    der(tags.sequence, ...validity),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(tags.extensions, der(tags.sequence, ...extensions)),
  )
  const signature = der(tags.bitString, Buffer.from([0]), sign('sha256', content, signer))
  const base64 = der(tags.sequence, content, algorithm, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** `YYMMDDHHMMSSZ`, the format of times until 2049. */
function toTime(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, '')
    .slice(2)
}

function distinguishedName(commonName: string): Buffer {
  const attribute = der(tags.sequence, objectId(oids.commonName), der(tags.text, Buffer.from(commonName)))
  return der(tags.sequence, der(tags.set, attribute))
}

function extension(id: string, value: Buffer): Buffer {
  return der(tags.sequence, objectId(id), der(tags.octetString, value))
}

function objectId(hex: string): Buffer {
  return der(tags.objectId, Buffer.from(hex, 'hex'))
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

async function write(folder: string, name: string, certificate: string, key: KeyObject): Promise<CertificateFiles> {
  const files = { cert: path.join(folder, `${name}.crt`), key: path.join(folder, `${name}.key`) }
  await writeFile(files.cert, certificate)
  await writeFile(files.key, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  return files
}
