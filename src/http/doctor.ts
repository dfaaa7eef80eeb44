import type { Finding } from '../engine/engine.ts';
import { sayFinding } from '../text/finding.ts';
import { DoctorReply, RepairBody, RepairReply, type FindingShape } from '../wire/doctor.ts';
import { reply, route, type Call, type Route } from './call.ts';
import { API_CHANNEL } from './orders.ts';
import { refusalProblem } from './problems.ts';

async function doctor({ door }: Call): Promise<Response> {
  const { locale, timeZone } = door.engine.parts.options;
  const reader = { locale, timeZone };
  const now = door.engine.parts.clock.now();
  const found = await door.engine.examine();
  const view = (finding: Finding): FindingShape => {
    const { level, code, subjectId, data } = finding;
    return { level, code, subjectId, ...sayFinding(reader, finding, now), data: { ...data } };
  };
  const problems = found.filter(({ level }) => level === 'problem').length;
  return reply(200, { problems, items: found.map(view) } satisfies DoctorReply);
}

async function repair({ door, identity }: Call): Promise<Response> {
  const { principal } = identity;
  const repaired = await door.engine.repair({ principal, channel: API_CHANNEL });
  if (repaired.kind === 'refused') throw refusalProblem(door.engine, repaired);
  const { tasks, fences, files } = repaired;
  const mended = { tasks: [...tasks], fences: [...fences], files: [...files] };
  return reply(200, mended satisfies RepairReply);
}

export const DOCTOR_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/admin/doctor',
    need: 'admin',
    summary: 'What is wrong with this installation, and what changes it; changes nothing',
    replies: { 200: { what: 'What was found', shape: DoctorReply } },
    handle: doctor,
  }),
  route({
    method: 'POST',
    path: '/v1/admin/repair',
    need: 'admin',
    summary: 'Give each task that stands still without a reason its reason, and close open files',
    body: RepairBody,
    replies: { 200: { what: 'What was mended', shape: RepairReply } },
    handle: repair,
  }),
];
