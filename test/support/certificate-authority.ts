import { execFile } from 'node:child_process'
import { chmod, chown, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface CertificateFiles {
  cert: string
  key: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc']

/** Makes a certificate authority with openssl: a key and a self-signed certificate. */
export async function createAuthority(folder: string, name: string): Promise<CertificateFiles> {
  const files = { cert: path.join(folder, `${name}.crt`), key: path.join(folder, `${name}.key`) }
  const subject = ['-subj', `/CN=${name}`, '-days', '2']
  await run('openssl', ['req', '-x509', ...newKey, ...subject, '-keyout', files.key, '-out', files.cert])
  return files
}

/** Issues a certificate for a common name and, for servers, a host name. */
export async function issueCertificate(
  authority: CertificateFiles,
  { folder, commonName, host }: { folder: string; commonName: string; host?: string },
): Promise<CertificateFiles> {
  const files = { cert: path.join(folder, `${commonName}.crt`), key: path.join(folder, `${commonName}.key`) }
  const issuer = ['-CA', authority.cert, '-CAkey', authority.key]
  const subject = ['-subj', `/CN=${commonName}`, '-days', '2']
  const names = host === undefined ? [] : ['-addext', `subjectAltName=DNS:${host}`]
  const output = ['-keyout', files.key, '-out', files.cert, '-addext', 'basicConstraints=critical,CA:FALSE']
  await run('openssl', ['req', '-x509', ...newKey, ...issuer, ...subject, ...names, ...output])
  return files
}

/** Writes a file that only the owner of the folder can read, such as the user of PostgreSQL. */
export async function writePrivate(file: string, content: string): Promise<void> {
  await writeFile(file, content, { mode: 0o600 })
  await chmod(file, 0o600)
  const { uid, gid } = await stat(path.dirname(file))
  await chown(file, uid, gid)
}
