import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceError } from '../../../contracts/errors.ts'
import { samplesPath, uploadTemplateSample } from '../../../contracts/dashboard/template-changes.ts'
import { testMediaPath, uploadTestMedia } from '../../../contracts/dashboard/template.ts'
import type { DashboardProcedure, InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { spool } from '../../media/spool.ts'
import { cleanFilename } from '../../media/types.ts'
import { storeUpload } from '../../media/upload.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import type { ServedProcedure } from '../../pipeline/procedures.ts'
import { openTemplateAccount } from '../../templates/changes/template-account.ts'
import { toSampleProblem, uploadSpooled } from '../../templates/changes/samples.ts'
import { toFailureBody } from '../api/errors.ts'
import { parseInput } from '../api/input.ts'
import { describeForUsers } from '../api/trpc.ts'
import { receiveForm, streamBodies } from '../api/receive-form.ts'
import { type AuthServices, authorizeUser, chargeNetwork, type DashboardCall } from './authorize.ts'

/** Whether a request uploads a file; its body may take longer than that of other requests. */
export function isDashboardUpload({ method, url }: IncomingMessage): boolean {
  const path = url?.split('?', 1)[0]
  return method === 'POST' && (path === samplesPath || path === testMediaPath)
}

/**
 * Serves the uploads of the dashboard. The parameters are in the query, so that the caller is authorized before the file is
 * read.
 */
export async function registerUploads(
  app: FastifyInstance,
  deps: Deps,
  authServices: AuthServices,
  pipeline: Pipeline,
): Promise<void> {
  await app.register((uploads, _options, done) => {
    streamBodies(uploads)
    const serve = <P extends DashboardProcedure>(path: string, name: string, contract: P, receive: Receive<P>) =>
      uploads.post(path, async (request) => {
        const { query } = request
        const readInput = () => chargeNetwork(pipeline.workLimiter, request).then(() => query)
        const call = await authorizeUser(deps, authServices, contract, request, readInput)
        const procedure: ServedProcedure<DashboardProcedure, DashboardCall> = {
          name,
          contract,
          perform: (_deps, { assertStillAllowed }, input) => receive(deps, { request, assertStillAllowed }, input),
        }
        const parse = () => parseInput(contract.input, query)
        return { success: true, data: await pipeline.run(procedure, call, { bytes: 0, parse }) }
      })
    serve(samplesPath, 'settings.template.uploadSample', uploadTemplateSample, uploadSample)
    serve(testMediaPath, 'settings.template.uploadTestMedia', uploadTestMedia, uploadMedia)
    done()
  })
}

interface Incoming {
  request: FastifyRequest
  /** Throws if the user lost access while the file arrived, which can take minutes. */
  assertStillAllowed: () => Promise<void>
}

type Receive<P extends DashboardProcedure> = (deps: Deps, incoming: Incoming, input: InputOf<P>) => Promise<OutputOf<P>>

/** The limits of uploads apply, as for `media.upload`. */
function uploadSample(
  deps: Deps,
  { request, assertStillAllowed }: Incoming,
  { accountId, whatsAppAccountId, format }: InputOf<typeof uploadTemplateSample>,
): Promise<OutputOf<typeof uploadTemplateSample>> {
  return deps.media.slots.run(accountId, async () => {
    const account = await openTemplateAccount(deps, accountId, whatsAppAccountId)
    const { file } = await receiveForm(deps, request.raw, (stream) =>
      spool(stream, deps.media.limits).catch((error: unknown) => {
        throw toSampleProblem(error, format)
      }),
    )
    await assertStillAllowed().catch(async (error: unknown) => {
      await file.discard()
      throw error
    })
    return { handle: await uploadSpooled(deps, account, file, { field: 'file', format }) }
  })
}

function uploadMedia(
  deps: Deps,
  { request, assertStillAllowed }: Incoming,
  { accountId, whatsAppAccountId }: InputOf<typeof uploadTestMedia>,
): Promise<OutputOf<typeof uploadTestMedia>> {
  return deps.media.slots.run(accountId, async () => {
    const { file, filename } = await receiveForm(deps, request.raw, (stream) => spool(stream, deps.media.limits))
    const fields = { filename: cleanFilename(filename), accountId: whatsAppAccountId }
    return storeUpload(deps, { accountId, assertStillAllowed }, file, fields)
  })
}

/** With the facts of the error, as over tRPC. */
export function toUploadFailureBody(failure: ServiceError): object {
  const body = toFailureBody(failure)
  return { ...body, error: { ...body.error, ...describeForUsers(failure) } }
}
