import type { FastifyInstance } from 'fastify'

export function registerDocs(app: FastifyInstance): void {
  void app
}
