import type { Open } from "../client.ts";
import * as integration from "./integration.ts";
import * as integrationSchemas from "./integration.zod.ts";
import * as messaging from "./messaging.ts";
import * as messagingSchemas from "./messaging.zod.ts";

/** Checks what is sent and received by the Zod schemas, which orval makes of the same document. */
export const open: Open = ({ apiKey, basic: { username, password } }) => {
  const partner = { headers: { apikey: apiKey } };
  const backend = { headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` } };
  return {
    async listResidents() {
      const body = integrationSchemas.ListResidentsBody.parse({ page_size: 3 });
      const { data } = await integration.listResidents(body, partner);
      return integrationSchemas.ListResidentsResponse.parse(data);
    },
    async searchResidents(name) {
      const body = integrationSchemas.SearchResidentsBody.parse({ p_nama: name });
      const { data } = await integration.searchResidents(body, partner);
      return integrationSchemas.SearchResidentsResponse.parse(data);
    },
    async login(username, password) {
      const { data } = await integration.login(integrationSchemas.LoginBody.parse({ username, password }));
      return integrationSchemas.LoginResponse.parse(data);
    },
    async refresh(refresh_token) {
      const body = integrationSchemas.RefreshBody.parse({ grant_type: "refresh_token", refresh_token });
      return integrationSchemas.RefreshResponse.parse((await integration.refresh(body)).data);
    },
    async findEmployees(token, name) {
      const query = integrationSchemas.ReadEmployeesQueryParams.parse({ nama: name });
      const headers = { authorization: `Bearer ${token}` };
      const { data } = await integration.readEmployees(query, { headers });
      const { result } = integrationSchemas.ReadEmployeesResponse.parse(data);
      return Array.isArray(result) ? result : [];
    },
    async sendText(phone, message) {
      const body = messagingSchemas.SendMessageBody.parse({ phone, message });
      const { data } = await messaging.sendMessage(body, backend);
      return messagingSchemas.SendMessageResponse.parse(data).data.id;
    },
    async sendImage(phone, image) {
      const body = messagingSchemas.SendImageBody.parse({ phone, image, caption: "a caption" });
      const { data } = await messaging.sendImage(body, backend);
      return messagingSchemas.SendImageResponse.parse(data).data.id;
    },
    async sendFile(phone, file) {
      const body = messagingSchemas.SendFileBody.parse({ phone, file, duration: 86_400 });
      const { data } = await messaging.sendFile(body, backend);
      return messagingSchemas.SendFileResponse.parse(data).results.message_id;
    },
    async readState(id) {
      const { data } = await messaging.readMessage(id, backend);
      return messagingSchemas.ReadMessageResponse.parse(data).data.status;
    },
  };
};
