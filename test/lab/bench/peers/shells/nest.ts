import "reflect-metadata";
import { configure, getCurrentInvoke } from "@codegenie/serverless-express";
import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  HttpCode,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  type PipeTransform,
  Post,
  Req,
  Res,
  UseGuards,
  UseInterceptors,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import type { Request, Response } from "express";
import { tap } from "rxjs";
import type * as z from "zod";
import { type Duty, headersOf, invalid, lineOf, log, toProblem } from "../duties/duty.ts";

const contextOf = () => (getCurrentInvoke() as { event: APIGatewayProxyEvent }).event.requestContext;

type Guarded<C> = Request & { caller: C };

/** Validates by a schema, as the guide to pipes does. */
class ZodValidationPipe<T> implements PipeTransform<unknown, T> {
  private readonly schema: z.ZodType<T>;
  constructor(schema: z.ZodType<T>) {
    this.schema = schema;
  }
  transform(value: unknown): T {
    const parsed = this.schema.safeParse(value ?? {});
    if (!parsed.success) throw invalid(parsed.error);
    return parsed.data;
  }
}

/** Nest on Express behind serverless-express: a module with a controller, a service, a guard, a pipe and a filter. */
export const serve = <B, C>(duty: Duty<B, C>) => {
  const write = (status: number, startedAt: number) =>
    log("request", lineOf(duty.name, contextOf().requestId, status, startedAt));

  @Injectable()
  class CallerGuard implements CanActivate {
    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = context.switchToHttp().getRequest<Guarded<C>>();
      request.caller = await duty.authenticate((name) => request.get(name));
      return true;
    }
  }

  @Injectable()
  class AccessLog implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler) {
      const startedAt = performance.now();
      return next.handle().pipe(tap(() => write(200, startedAt)));
    }
  }

  @Catch()
  class ProblemFilter implements ExceptionFilter {
    catch(error: unknown, host: ArgumentsHost) {
      const problem = toProblem(error);
      const { requestId } = contextOf();
      write(problem.status, performance.now());
      host
        .switchToHttp()
        .getResponse<Response>()
        .status(problem.status)
        .set(headersOf(requestId, problem))
        .json(duty.describe(problem, requestId));
    }
  }

  @Injectable()
  class DutyService {
    answer = duty.answer;
  }

  @Controller()
  @UseGuards(CallerGuard)
  @UseInterceptors(AccessLog)
  class DutyController {
    private readonly service: DutyService;
    constructor(@Inject(DutyService) service: DutyService) {
      this.service = service;
    }

    @Post(duty.path)
    @HttpCode(200)
    async handle(
      @Body(new ZodValidationPipe(duty.body)) body: B,
      @Req() request: Guarded<C>,
      @Res({ passthrough: true }) response: Response,
    ): Promise<object> {
      const { identity, requestId } = contextOf();
      const { caller } = request;
      const idempotencyKey = request.get("idempotency-key");
      const reply = await this.service.answer({
        ...{ body, caller, idempotencyKey },
        ...{ sourceIp: identity.sourceIp, requestId },
      });
      response.set(headersOf(requestId));
      return reply;
    }
  }

  @Module({ controllers: [DutyController], providers: [DutyService] })
  class DutyModule {}

  const bootstrap = async () => {
    const app = await NestFactory.create<NestExpressApplication>(DutyModule, {
      bodyParser: false,
      logger: ["error", "warn"],
    });
    app.disable("x-powered-by");
    app.disable("etag");
    app.useGlobalFilters(new ProblemFilter());
    app.useBodyParser("json", { limit: duty.maxBodyBytes, strict: false });
    await app.init();
    return configure({ app: app.getHttpAdapter().getInstance() });
  };
  // not in the first request, as the guide to serverless has it: at once, while the secrets are read
  const server = bootstrap();
  return async (event: unknown, context: Context) => (await server)(event, context, () => {});
};
