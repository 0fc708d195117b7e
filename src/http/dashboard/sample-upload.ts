import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceError } from '../../../contracts/errors.ts'
import { samplesPath, uploadTemplateSample } from '../../../contracts/dashboard/template-changes.ts'
import type { DashboardProcedure, InputOf, OutputOf } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import { spool } from '../../media/spool.ts'
import type { Pipeline } from '../../pipeline/pipeline.ts'
import type { ServedProcedure } from '../../pipeline/procedures.ts'
import { openTemplateAccount } from '../../templates/changes/template-account.ts'
import { toSampleProblem, uploadReceivedSample } from '../../templates/changes/samples.ts'
import { toFailureBody } from '../api/errors.ts'
import { parseInput } from '../api/input.ts'
import { describeForUsers } from '../api/trpc.ts'
import { receiveForm, streamBodies } from '../api/receive-form.ts'
import { type AuthServices, authorizeUser, type DashboardCall } from './authorize.ts'

/** Whether a request uploads a sample; its body may take longer than that of other requests. */
export function isSampleUpload({ method, url }: IncomingMessage): boolean {
  return method === 'POST' && url?.split('?', 1)[0] === samplesPath
}

/**
 * Serves the upload of a sample from the template editor. The parameters are in the query, so that the caller is
 * authorized before the file is read.
 */
export async function registerSampleUpload(
  app: FastifyInstance,
  deps: Deps,
  authServices: AuthServices,
  pipeline: Pipeline,
): Promise<void> {
  await app.register((samples, _options, done) => {
    streamBodies(samples)
    samples.post(samplesPath, async (request) => {
      const { query } = request
      const call = await authorizeUser(deps, authServices, uploadTemplateSample, request, () => Promise.resolve(query))
      const procedure: ServedProcedure<DashboardProcedure, DashboardCall> = {
        name: 'settings.template.uploadSample',
        contract: uploadTemplateSample,
        perform: (_deps, _call, input) => uploadSample(deps, request, input),
      }
      const parse = () => parseInput(uploadTemplateSample.input, query)
      return { success: true, data: await pipeline.run(procedure, call, { bytes: 0, parse }) }
    })
    done()
  })
}

/** The limits of uploads apply, as for `media.upload`. */
async function uploadSample(
  deps: Deps,
  request: FastifyRequest,
  { accountId, whatsAppAccountId, format }: InputOf<typeof uploadTemplateSample>,
): Promise<OutputOf<typeof uploadTemplateSample>> {
  const releaseUpload = deps.media.slots.take(accountId)
  try {
    const account = await openTemplateAccount(deps, accountId, whatsAppAccountId)
    const { file } = await receiveForm(deps, request.raw, (stream) =>
      spool(stream, deps.media.limits).catch((error: unknown) => {
        throw toSampleProblem(error, format)
      }),
    )
    return { handle: await uploadReceivedSample(deps, account, { file, format }) }
  } finally {
    releaseUpload()
  }
}

/** With the facts of the error, as over tRPC. */
export function toSampleFailureBody(failure: ServiceError): object {
  const body = toFailureBody(failure)
  return { ...body, error: { ...body.error, ...describeForUsers(failure) } }
}
